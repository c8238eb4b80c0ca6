export { AccountSettings as default } from "./account-settings.tsx";
