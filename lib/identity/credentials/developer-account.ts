/** The account that `npm run dev` seeds. The launcher uses this file too, before the settings are whole. */
export const DEVELOPER_EMAIL = "developer@example.com";
