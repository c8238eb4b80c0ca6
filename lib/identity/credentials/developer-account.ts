/** The account that `npm run dev` seeds. The launcher imports this before the settings are complete. */
export const DEVELOPER_EMAIL = "developer@example.com";
