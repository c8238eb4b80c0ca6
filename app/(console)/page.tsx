export { Start as default } from "./_shell/start.tsx";
