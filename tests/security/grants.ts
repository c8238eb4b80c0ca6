/**
 * Objects that end with their holder. The holder is an owner of an organization, with which an
 * artist is linked, and has granted or started each of these; then one of the four events in the
 * columns happens to the holder. docs/security.md has the same table.
 */
export const events = [
  "Removed from the organization",
  "Owner becomes a member",
  "Key revoked",
  "Account deleted",
] as const;
export type Event = (typeof events)[number];

export type Outcome = "ends" | "stays";

export const grants = {
  "Invitation that the holder has sent": ["ends", "ends", "stays", "ends"],
  "Link that connects a service to the artist, not yet completed": [
    "ends",
    "stays",
    "ends",
    "ends",
  ],
  "Service that the holder has connected to the artist": ["stays", "stays", "stays", "stays"],
  "Running turn for the artist": ["ends", "stays", "ends", "ends"],
  "Credential of the sandbox of that turn": ["ends", "stays", "ends", "ends"],
  "Message that waits in the holder's chat": ["stays", "stays", "ends", "ends"],
  "Scheduled prompt for the artist": ["ends", "stays", "stays", "ends"],
  "Trigger of that prompt at events of the holder's own service": [
    "ends",
    "stays",
    "stays",
    "ends",
  ],
  "Webhook of the holder's account": ["stays", "stays", "stays", "ends"],
  "Link to a chat that the holder has shared": ["stays", "stays", "stays", "ends"],
  "Private template that the holder has shared with an address": [
    "stays",
    "stays",
    "stays",
    "ends",
  ],
  "Rotated key within its grace time, when that key is revoked": ["stays", "stays", "ends", "ends"],
} as const satisfies Record<string, readonly [Outcome, Outcome, Outcome, Outcome]>;
export type Grant = keyof typeof grants;
