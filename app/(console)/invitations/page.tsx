export { Invitations as default } from "./invitations.tsx";

export const metadata = { title: "Invitations" };
