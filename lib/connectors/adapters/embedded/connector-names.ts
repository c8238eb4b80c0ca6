/** The connectors of the embedded provider: Composio's slugs with display names. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ["airtable", "Airtable"],
  ["discord", "Discord"],
  ["dropbox", "Dropbox"],
  ["github", "GitHub"],
  ["gmail", "Gmail"],
  ["googlecalendar", "Google Calendar"],
  ["googledocs", "Google Docs"],
  ["googledrive", "Google Drive"],
  ["googlesheets", "Google Sheets"],
  ["hubspot", "HubSpot"],
  ["instagram", "Instagram"],
  ["linkedin", "LinkedIn"],
  ["mailchimp", "Mailchimp"],
  ["notion", "Notion"],
  ["outlook", "Outlook"],
  ["slack", "Slack"],
  ["soundcloud", "SoundCloud"],
  ["tiktok", "TikTok"],
  ["twitter", "X"],
  ["youtube", "YouTube"],
]);

/** Returns the display name of a connector; undefined for an unknown one. */
export function connectorName(slug: string): string | undefined {
  return NAMES.get(slug);
}
