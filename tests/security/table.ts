/**
 * The permissions: every endpoint, for twelve callers, with the status and the sentence of each
 * answer. How each request is made is in rows.ts. This file is long because it is one table.
 *
 * The owner has an object (a session, a template, …), and each caller requests that object. Owner
 * and member belong to one organization, with which an artist is linked; the admin belongs to the
 * admin organization; the stranger belongs to another organization, with another artist. The `both`
 * caller sends two good credentials of the owner, and the expired and the revoked key are the
 * owner's. So are the credentials of a run: its sandbox has them while the owner's turn is running,
 * in the two forms there are. They reach the objects of `(own)` as the objects of the run's own
 * session. A sandboxed caller sends no credential, only the `x-agent-sandbox` header.
 *
 * A cell is a status; `+` where the answer contains the object's id, which no other answer does; and a
 * letter for the sentence of an error. A line that starts with `field=whose` is the endpoint above with
 * that field: the caller's `own` account, the `owner`'s, the `artist` or the `organization` that owner and
 * member share, a `foreign` one (the stranger's artist or organization), `nobody`'s, or `malformed`.
 *
 * A thing that is answered as missing answers as a missing one does, byte for byte, and so does a
 * foreign account that is refused.
 */
export const callers = [
  "owner's key",
  "owner's bearer",
  "member",
  "admin",
  "stranger",
  "no credential",
  "both credentials",
  "expired key",
  "revoked key",
  "run key",
  "run bearer",
  "in a sandbox",
] as const;
export type Caller = (typeof callers)[number];

/** The sentence of an error, by its letter. */
export const sentences: Readonly<Record<string, string>> = {
  x: "Exactly one of x-api-key or Authorization must be provided",
  u: "Unauthorized",
  k: "This credential cannot be used here",
  w: "This cannot be used from a sandbox",
  a: "Access denied to specified account_id",
  g: "Access denied to specified organization_id",
  i: "account_id must be a valid UUID",
  j: "organization_id must be a valid UUID",
  l: "artistId must be a valid UUID",
  b: "account_id must not be provided",
  s: "Session not found",
  c: "Chat not found",
  r: "Run not found",
  t: "Template not found",
  d: "Only the owner can delete this template",
  e: "Only the owner can change this template",
  n: "Task run not found",
  y: "Task not found",
  z: "artist_id must be a valid UUID",
  m: "Artist not found",
  p: "Key not found",
  P: "Approval not found",
  R: "Remembered approval not found",
  h: "Media not found",
  B: "The body must be an image (PNG, JPEG, WebP or GIF), a video (MP4, QuickTime or WebM) or audio (MP3, M4A, WAV, OGG, FLAC or AAC)",
  o: "Not found",
  S: "Skill not found",
  W: "Webhook not found",
  M: "MCP server not found",
  G: "The auth of the server is not oauth",
  H: "The authorization has expired: start it again",
  T: "A tool has changed since it was read: read the server again",
  F: "File not found",
  V: "Proposal not found",
  D: "Delivery not found",
  Y: "Trigger not found",
  A: "Address not found",
  f: "reference_image_url could not be fetched",
  O: "Organization not found",
  C: "confirm must be the account's e-mail address",
  X: "Only an owner of the organization can delete this artist",
  I: "Invitation not found",
  N: "The account has no active connection to this connector: connect it first",
  q: "url must have a public address",
  E: "The connector is not connected",
  v: "image_url is required: make one first with POST /api/content/image",
};

export const table = `
                                                     owner         mem-  ad-   stran-  no cre-   both  expi-  revo-  run           in a
                                                     key   bearer  ber   min   ger     dential         red    ked    key   bearer  sandbox
POST /api/agents/signup                            | 200   200     200   200   200     200       200   200    200    403k  403k    403w
POST /api/agents/verify                            | 200   200     200   200   200     200       200   200    200    403k  403k    403w
GET /api/health                                    | 200   200     200   200   200     200       200   200    200    200   200     200
GET /api/health/ready                              | 200   200     200   200   200     200       200   200    200    200   200     200
GET /api/openapi.json                              | 200   200     200   200   200     200       200   200    200    200   200     200

GET /api/catalog/search                            | 200+  200+    200+  200+  200+    200+      401x  401u   401u   200+  200+    200+
GET /api/catalog/artist/albums                     | 200+  200+    200+  200+  200+    200+      401x  401u   401u   200+  200+    200+
GET /api/catalog/open                              | 404o  404o    404o  404o  404o    404o      404o  404o   404o   404o  404o    404o
GET /api/research/tracks                           | 200+  200+    200+  200+  200+    200+      401x  401u   401u   200+  200+    200+
GET /api/models                                    | 200   200     200   200   200     401x      401x  401u   401u   200   200     401x

POST /api/keys                                     | 201   201     201   201   201     401x      401x  401u   401u   403k  403k    401x
  account_id=own                                   | 400b  400b    400b  400b  400b    401x      401x  401u   401u   403k  403k    401x
  account_id=artist                                | 400b  400b    400b  400b  400b    401x      401x  401u   401u   403k  403k    401x
  account_id=foreign                               | 400b  400b    400b  400b  400b    401x      401x  401u   401u   403k  403k    401x
  account_id=malformed                             | 400b  400b    400b  400b  400b    401x      401x  401u   401u   403k  403k    401x
GET /api/keys                                      | 200+  200+    200   200   200     401x      401x  401u   401u   403k  403k    401x
DELETE /api/keys/{id}                              | 200   200     404p  404p  404p    401x      401x  401u   401u   403k  403k    401x
POST /api/keys/{id}/rotate                         | 201   201     404p  404p  404p    401x      401x  401u   401u   403k  403k    401x

GET /api/accounts/id                               | 200+  200+    200   200   200     401x      401x  401u   401u   200+  200+    401x
GET /api/accounts/me                               | 200+  200+    200   200   200     401x      401x  401u   401u   200+  200+    401x
PATCH /api/accounts/me                             | 200+  200+    200   200   200     401x      401x  401u   401u   403k  403k    401x
DELETE /api/accounts/me                            | 400C  400C    400C  400C  400C    401x      401x  401u   401u   403k  403k    401x
GET /api/accounts/me/export                        | 200+  200+    200   200   200     401x      401x  401u   401u   403k  403k    401x

POST /api/organizations                            | 201   201     201   201   201     401x      401x  401u   401u   403k  403k    401x
GET /api/organizations                             | 200+  200+    200   200   200     401x      401x  401u   401u   403k  403k    401x
GET /api/organizations/{id}                        | 200+  200+    404O  404O  404O    401x      401x  401u   401u   403k  403k    401x
PATCH /api/organizations/{id}                      | 200+  200+    404O  404O  404O    401x      401x  401u   401u   403k  403k    401x
DELETE /api/organizations/{id}                     | 200   200     404O  404O  404O    401x      401x  401u   401u   403k  403k    401x
GET /api/organizations/{id}/members                | 200+  200+    404O  404O  404O    401x      401x  401u   401u   403k  403k    401x
PATCH /api/organizations/{id}/members/{account_id} | 200+  200+    404O  404O  404O    401x      401x  401u   401u   403k  403k    401x
DELETE /api/organizations/{id}/members/{account_id}| 200   200     404O  404O  404O    401x      401x  401u   401u   403k  403k    401x
POST /api/organizations/{id}/invitations           | 201   201     404O  404O  404O    401x      401x  401u   401u   403k  403k    401x
GET /api/organizations/{id}/invitations            | 200+  200+    404O  404O  404O    401x      401x  401u   401u   403k  403k    401x
DELETE /api/organizations/{id}/invitations/{invitation_id}| 200   200     404O  404O  404O    401x      401x  401u   401u   403k  403k    401x
GET /api/invitations                               | 200+  200+    200   200   200     401x      401x  401u   401u   403k  403k    401x
POST /api/invitations/{id}/accept                  | 200   200     404I  404I  404I    401x      401x  401u   401u   403k  403k    401x
POST /api/invitations/{id}/decline                 | 200   200     404I  404I  404I    401x      401x  401u   401u   403k  403k    401x

POST /api/artists                                  | 201   201     201   201   201     401x      401x  401u   401u   403k  403k    401x
  organization_id=organization                     | 201   201     201   403g  403g    401x      401x  401u   401u   403k  403k    401x
  organization_id=foreign                          | 403g  403g    403g  403g  201     401x      401x  401u   401u   403k  403k    401x
  organization_id=own                              | 403g  403g    403g  403g  403g    401x      401x  401u   401u   403k  403k    401x
  organization_id=nobody                           | 403g  403g    403g  403g  403g    401x      401x  401u   401u   403k  403k    401x
  organization_id=malformed                        | 400j  400j    400j  400j  400j    401x      401x  401u   401u   403k  403k    401x
POST /api/artists/example                          | 201   201     201   201   201     401x      401x  401u   401u   403k  403k    401x
GET /api/artists                                   | 200+  200+    200   200   200     401x      401x  401u   401u   200+  200+    401x
  account_id=own                                   | 200+  200+    200   200   200     401x      401x  401u   401u   200+  200+    401x
  account_id=owner                                 | 200+  200+    200+  200+  403a    401x      401x  401u   401u   200+  200+    401x
  account_id=artist                                | 200   200     200   200   403a    401x      401x  401u   401u   403a  403a    401x
  account_id=foreign                               | 403a  403a    403a  200   200     401x      401x  401u   401u   403a  403a    401x
  account_id=nobody                                | 403a  403a    403a  403a  403a    401x      401x  401u   401u   403a  403a    401x
  account_id=malformed                             | 400i  400i    400i  400i  400i    401x      401x  401u   401u   400i  400i    401x
GET /api/artists/{account_id}                      | 200+  200+    404m  200+  404m    401x      401x  401u   401u   200+  200+    401x
PATCH /api/artists/{account_id}                    | 200+  200+    404m  200+  404m    401x      401x  401u   401u   403k  403k    401x
DELETE /api/artists/{account_id}                   | 200   200     404m  403X  404m    401x      401x  401u   401u   403k  403k    401x

POST /api/sessions                                 | 201   201     201   201   201     401x      401x  401u   401u   403k  403k    401x
  organization_id=organization                     | 201   201     201   403g  403g    401x      401x  401u   401u   403k  403k    401x
  organization_id=foreign                          | 403g  403g    403g  403g  201     401x      401x  401u   401u   403k  403k    401x
  organization_id=own                              | 403g  403g    403g  403g  403g    401x      401x  401u   401u   403k  403k    401x
  organization_id=nobody                           | 403g  403g    403g  403g  403g    401x      401x  401u   401u   403k  403k    401x
  organization_id=malformed                        | 400j  400j    400j  400j  400j    401x      401x  401u   401u   403k  403k    401x
  artistId=artist                                  | 201   201     201   201   404m    401x      401x  401u   401u   403k  403k    401x
  artistId=foreign                                 | 404m  404m    404m  201   201     401x      401x  401u   401u   403k  403k    401x
  artistId=own                                     | 404m  404m    404m  404m  404m    401x      401x  401u   401u   403k  403k    401x
  artistId=nobody                                  | 404m  404m    404m  404m  404m    401x      401x  401u   401u   403k  403k    401x
  artistId=malformed                               | 400l  400l    400l  400l  400l    401x      401x  401u   401u   403k  403k    401x
GET /api/sessions                                  | 200+  200+    200   200   200     401x      401x  401u   401u   200+  200+    401x
GET /api/chats                                     | 200+  200+    200   200   200     401x      401x  401u   401u   200+  200+    401x
POST /api/chats/delete                             | 200+  200+    200   200   200     401x      401x  401u   401u   403k  403k    401x
GET /api/shares/{token}                            | 200+  200+    200+  200+  200+    200+      200+  200+   200+   403k  403k    403w
GET /api/shares/{token}/files/{index}              | 200+  200+    200+  200+  200+    200+      200+  200+   200+   403k  403k    403w
POST /api/shares/{token}/chats                     | 201+  201+    201+  201+  201+    401x      401x  401u   401u   403k  403k    401x
GET /api/sessions/{sessionId}                      | 200+  200+    404s  404s  404s    401x      401x  401u   401u   200+  200+    401x
PATCH /api/sessions/{sessionId}                    | 200+  200+    404s  404s  404s    401x      401x  401u   401u   403k  403k    401x
DELETE /api/sessions/{sessionId}                   | 200   200     404s  404s  404s    401x      401x  401u   401u   403k  403k    401x
GET /api/sessions/{sessionId}/chats                | 200+  200+    404s  404s  404s    401x      401x  401u   401u   200+  200+    401x
POST /api/sessions/{sessionId}/chats               | 201+  201+    404s  404s  404s    401x      401x  401u   401u   403k  403k    401x
GET /api/sessions/{sessionId}/chats/{chatId}       | 200+  200+    404s  404s  404s    401x      401x  401u   401u   200+  200+    401x
PATCH /api/sessions/{sessionId}/chats/{chatId}     | 200+  200+    404s  404s  404s    401x      401x  401u   401u   403k  403k    401x
DELETE /api/sessions/{sessionId}/chats/{chatId}    | 200   200     404s  404s  404s    401x      401x  401u   401u   403k  403k    401x
GET /api/sessions/{sessionId}/chats/{chatId}/branches | 200+  200+    404s  404s  404s    401x      401x  401u   401u   200+  200+    401x
PUT /api/sessions/{sessionId}/chats/{chatId}/branch | 200+  200+    404s  404s  404s    401x      401x  401u   401u   403k  403k    401x
GET /api/sessions/{sessionId}/chats/{chatId}/context | 200   200     404s  404s  404s    401x      401x  401u   401u   200   200     401x
POST /api/sessions/{sessionId}/chats/{chatId}/compact | 200   200     404s  404s  404s    401x      401x  401u   401u   403k  403k    401x
GET /api/sessions/{sessionId}/chats/{chatId}/feedback | 200+  200+    404s  404s  404s    401x      401x  401u   401u   200+  200+    401x
PUT /api/sessions/{sessionId}/chats/{chatId}/messages/{messageId}/feedback | 200+  200+    404s  404s  404s    401x      401x  401u   401u   403k  403k    401x
GET /api/sessions/{sessionId}/chats/{chatId}/export| 200+  200+    404s  404s  404s    401x      401x  401u   401u   200+  200+    401x
PUT /api/sessions/{sessionId}/chats/{chatId}/share | 200+  200+    404s  404s  404s    401x      401x  401u   401u   403k  403k    401x
GET /api/sessions/{sessionId}/chats/{chatId}/share | 200+  200+    404s  404s  404s    401x      401x  401u   401u   403k  403k    401x
DELETE /api/sessions/{sessionId}/chats/{chatId}/share | 200   200     404s  404s  404s    401x      401x  401u   401u   403k  403k    401x
GET /api/sessions/{sessionId}/chats/{chatId}/connectors | 200   200     404s  404s  404s    401x      401x  401u   401u   403k  403k    401x
PUT /api/sessions/{sessionId}/chats/{chatId}/connectors | 200   200     404s  404s  404s    401x      401x  401u   401u   403k  403k    401x
POST /api/sandbox                                  | 200+  200+    404s  404s  404s    401x      401x  401u   401u   403k  403k    401x
GET /api/sandbox                                   | 200+  200+    404s  404s  404s    401x      401x  401u   401u   403k  403k    401x
GET /api/sandbox (own)                             | 200+  200+    404s  404s  404s    401x      401x  401u   401u   200+  200+    401x
DELETE /api/sandbox                                | 200+  200+    404s  404s  404s    401x      401x  401u   401u   403k  403k    401x
GET /api/sandbox/files                             | 200+  200+    404s  404s  404s    401x      401x  401u   401u   403k  403k    401x
GET /api/sandbox/files (own)                       | 200+  200+    404s  404s  404s    401x      401x  401u   401u   200+  200+    401x
GET /api/sandbox/files/content                     | 200   200     404s  404s  404s    401x      401x  401u   401u   403k  403k    401x
GET /api/sandbox/files/content (own)               | 200   200     404s  404s  404s    401x      401x  401u   401u   200   200     401x
PUT /api/sandbox/files/content                     | 200   200     404s  404s  404s    401x      401x  401u   401u   403k  403k    401x
PUT /api/sandbox/files/content (own)               | 200   200     404s  404s  404s    401x      401x  401u   401u   200   200     401x
DELETE /api/sandbox/files                          | 200   200     404s  404s  404s    401x      401x  401u   401u   403k  403k    401x
DELETE /api/sandbox/files (own)                    | 200   200     404s  404s  404s    401x      401x  401u   401u   200   200     401x
GET /api/sandbox/archive                           | 200   200     404s  404s  404s    401x      401x  401u   401u   403k  403k    401x
GET /api/sandbox/archive (own)                     | 200   200     404s  404s  404s    401x      401x  401u   401u   200   200     401x
GET /api/workspace/files                           | 200+  200+    200  200  200    401x      401x  401u   401u   200+  200+    401x
  artist_id=artist                                 | 200  200    200  200  404m    401x      401x  401u   401u   403k  403k    401x
  artist_id=foreign                                | 404m  404m    404m  200  200    401x      401x  401u   401u   403k  403k    401x
  artist_id=own                                    | 404m  404m    404m  404m  404m    401x      401x  401u   401u   403k  403k    401x
  artist_id=nobody                                 | 404m  404m    404m  404m  404m    401x      401x  401u   401u   403k  403k    401x
  artist_id=malformed                              | 400z  400z    400z  400z  400z    401x      401x  401u   401u   400z  400z    401x
GET /api/workspace/files/content                   | 200+  200+    404F  404F  404F    401x      401x  401u   401u   200+  200+    401x
  artist_id=artist                                 | 404F  404F    404F  404F  404m    401x      401x  401u   401u   403k  403k    401x
  artist_id=foreign                                | 404m  404m    404m  404F  404F    401x      401x  401u   401u   403k  403k    401x
  artist_id=own                                    | 404m  404m    404m  404m  404m    401x      401x  401u   401u   403k  403k    401x
  artist_id=nobody                                 | 404m  404m    404m  404m  404m    401x      401x  401u   401u   403k  403k    401x
  artist_id=malformed                              | 400z  400z    400z  400z  400z    401x      401x  401u   401u   400z  400z    401x
PUT /api/workspace/files/content                   | 200+  200+    201+  201+  201+    401x      401x  401u   401u   200+  200+    401x
  artist_id=artist                                 | 201+  201+    201+  201+  404m    401x      401x  401u   401u   403k  403k    401x
  artist_id=foreign                                | 404m  404m    404m  201+  201+    401x      401x  401u   401u   403k  403k    401x
  artist_id=own                                    | 404m  404m    404m  404m  404m    401x      401x  401u   401u   403k  403k    401x
  artist_id=nobody                                 | 404m  404m    404m  404m  404m    401x      401x  401u   401u   403k  403k    401x
  artist_id=malformed                              | 400z  400z    400z  400z  400z    401x      401x  401u   401u   400z  400z    401x
DELETE /api/workspace/files/content                | 200  200    404F  404F  404F    401x      401x  401u   401u   200  200    401x
  artist_id=artist                                 | 404F  404F    404F  404F  404m    401x      401x  401u   401u   403k  403k    401x
  artist_id=foreign                                | 404m  404m    404m  404F  404F    401x      401x  401u   401u   403k  403k    401x
  artist_id=own                                    | 404m  404m    404m  404m  404m    401x      401x  401u   401u   403k  403k    401x
  artist_id=nobody                                 | 404m  404m    404m  404m  404m    401x      401x  401u   401u   403k  403k    401x
  artist_id=malformed                              | 400z  400z    400z  400z  400z    401x      401x  401u   401u   400z  400z    401x
GET /api/workspace/versions                        | 200+  200+    404F  404F  404F    401x      401x  401u   401u   200+  200+    401x
  artist_id=artist                                 | 404F  404F    404F  404F  404m    401x      401x  401u   401u   403k  403k    401x
  artist_id=foreign                                | 404m  404m    404m  404F  404F    401x      401x  401u   401u   403k  403k    401x
  artist_id=own                                    | 404m  404m    404m  404m  404m    401x      401x  401u   401u   403k  403k    401x
  artist_id=nobody                                 | 404m  404m    404m  404m  404m    401x      401x  401u   401u   403k  403k    401x
  artist_id=malformed                              | 400z  400z    400z  400z  400z    401x      401x  401u   401u   400z  400z    401x
POST /api/workspace/restore                        | 200+  200+    404F  404F  404F    401x      401x  401u   401u   200+  200+    401x
  artist_id=artist                                 | 404F  404F    404F  404F  404m    401x      401x  401u   401u   403k  403k    401x
  artist_id=foreign                                | 404m  404m    404m  404F  404F    401x      401x  401u   401u   403k  403k    401x
  artist_id=own                                    | 404m  404m    404m  404m  404m    401x      401x  401u   401u   403k  403k    401x
  artist_id=nobody                                 | 404m  404m    404m  404m  404m    401x      401x  401u   401u   403k  403k    401x
  artist_id=malformed                              | 400z  400z    400z  400z  400z    401x      401x  401u   401u   400z  400z    401x
GET /api/workspace/search                          | 200+  200+    200  200  200    401x      401x  401u   401u   200+  200+    401x
  artist_id=artist                                 | 200  200    200  200  404m    401x      401x  401u   401u   403k  403k    401x
  artist_id=foreign                                | 404m  404m    404m  200  200    401x      401x  401u   401u   403k  403k    401x
  artist_id=own                                    | 404m  404m    404m  404m  404m    401x      401x  401u   401u   403k  403k    401x
  artist_id=nobody                                 | 404m  404m    404m  404m  404m    401x      401x  401u   401u   403k  403k    401x
  artist_id=malformed                              | 400z  400z    400z  400z  400z    401x      401x  401u   401u   400z  400z    401x
GET /api/workspace/memory/proposals                | 200+  200+    200  200  200    401x      401x  401u   401u   403k  403k    401x
  artist_id=artist                                 | 200  200    200  200  404m    401x      401x  401u   401u   403k  403k    401x
  artist_id=foreign                                | 404m  404m    404m  200  200    401x      401x  401u   401u   403k  403k    401x
  artist_id=own                                    | 404m  404m    404m  404m  404m    401x      401x  401u   401u   403k  403k    401x
  artist_id=nobody                                 | 404m  404m    404m  404m  404m    401x      401x  401u   401u   403k  403k    401x
  artist_id=malformed                              | 400z  400z    400z  400z  400z    401x      401x  401u   401u   403k  403k    401x
POST /api/workspace/memory/proposals/{id}/accept   | 200+  200+    404V  200+  404V    401x      401x  401u   401u   403k  403k    401x
POST /api/workspace/memory/proposals/{id}/reject   | 200+  200+    404V  200+  404V    401x      401x  401u   401u   403k  403k    401x

POST /api/chat                                     | 200   200     404s  404s  404s    401x      401x  401u   401u   403k  403k    401x
GET /api/chat/{chatId}/stream                      | 204   204     404c  404c  404c    401x      401x  401u   401u   403k  403k    401x
POST /api/chat/{chatId}/stop                       | 200   200     404c  404c  404c    401x      401x  401u   401u   403k  403k    401x
GET /api/chat/{chatId}/queue                       | 200+  200+    404c  404c  404c    401x      401x  401u   401u   200+  200+    401x
DELETE /api/chat/{chatId}/queue/{message_id}       | 200   200     404c  404c  404c    401x      401x  401u   401u   403k  403k    401x
POST /api/chat/runs                                | 202   202     202   202   202     401x      401x  401u   401u   403k  403k    401x
  artistId=artist                                  | 202   202     202   202   404m    401x      401x  401u   401u   403k  403k    401x
  artistId=foreign                                 | 404m  404m    404m  202   202     401x      401x  401u   401u   403k  403k    401x
  artistId=own                                     | 404m  404m    404m  404m  404m    401x      401x  401u   401u   403k  403k    401x
  artistId=nobody                                  | 404m  404m    404m  404m  404m    401x      401x  401u   401u   403k  403k    401x
  artistId=malformed                               | 400l  400l    400l  400l  400l    401x      401x  401u   401u   403k  403k    401x
GET /api/chat/runs/{runId}                         | 200+  200+    404r  404r  404r    401x      401x  401u   401u   200+  200+    401x
GET /api/chat/runs                                 | 200+  200+    200   200   200     401x      401x  401u   401u   200+  200+    401x
GET /api/chat/runs/{runId}/steps                   | 200+  200+    404r  404r  404r    401x      401x  401u   401u   200+  200+    401x
GET /api/chat/runs/{runId}/steps/{index}           | 200+  200+    404r  404r  404r    401x      401x  401u   401u   200+  200+    401x
GET /api/chat/runs/{runId}/deliveries              | 200   200     404r  404r  404r    401x      401x  401u   401u   403k  403k    401x
POST /api/chat/runs/{runId}/cancel                 | 200   200     404r  404r  404r    401x      401x  401u   401u   403k  403k    401x
POST /api/chat/runs/{runId}/tool_results           | 200+  200+    404r  404r  404r    401x      401x  401u   401u   403k  403k    401x
POST /api/chat/runs/{runId}/approvals/{approvalId} | 200+  200+    404P  404P  404P    401x      401x  401u   401u   403k  403k    401x
GET /api/approvals                                 | 200+  200+    200   200   200     401x      401x  401u   401u   403k  403k    401x
GET /api/approval-rules                            | 200+  200+    200   200   200     401x      401x  401u   401u   403k  403k    401x
DELETE /api/approval-rules/{id}                    | 200   200     404R  404R  404R    401x      401x  401u   401u   403k  403k    401x
GET /api/usage                                     | 200   200     200   200   200     401x      401x  401u   401u   200   200     401x

POST /api/agents/templates                         | 201   201     201   201   201     401x      401x  401u   401u   403k  403k    401x
POST /api/agents/templates (private)               | 201   201     201   201   201     401x      401x  401u   401u   201   201     401x
POST /api/agents/templates (shared)                | 201+  201+    201+  201+  201+    401x      401x  401u   401u   403k  403k    401x
GET /api/agents/templates                          | 200+  200+    200   200   200     401x      401x  401u   401u   200+  200+    401x
GET /api/agents/templates/{id}                     | 200+  200+    404t  404t  404t    401x      401x  401u   401u   200+  200+    401x
PATCH /api/agents/templates/{id}                   | 200+  200+    404t  404t  404t    401x      401x  401u   401u   403k  403k    401x
DELETE /api/agents/templates/{id}                  | 200   200     404t  404t  404t    401x      401x  401u   401u   403k  403k    401x
GET /api/agents/templates/{id}/versions            | 200   200     404t  404t  404t    401x      401x  401u   401u   200   200     401x
GET /api/agents/templates/{id}/versions/{version}  | 200+  200+    404t  404t  404t    401x      401x  401u   401u   200+  200+    401x
POST /api/agents/templates/{id}/restore            | 200+  200+    404t  404t  404t    401x      401x  401u   401u   403k  403k    401x
PUT /api/agents/templates/{id}/favorite            | 200+  200+    404t  404t  404t    401x      401x  401u   401u   403k  403k    401x
POST /api/agents/templates/{id}/restore (public)   | 200+  200+    403e  403e  403e    401x      401x  401u   401u   403k  403k    401x
GET /api/agents/templates/{id} (public)            | 200+  200+    200+  200+  200+    401x      401x  401u   401u   200+  200+    401x
PATCH /api/agents/templates/{id} (public)          | 200+  200+    403e  403e  403e    401x      401x  401u   401u   403k  403k    401x
DELETE /api/agents/templates/{id} (public)         | 200   200     403d  403d  403d    401x      401x  401u   401u   403k  403k    401x
PUT /api/agents/templates/{id}/favorite (public)   | 200+  200+    200+  200+  200+    401x      401x  401u   401u   403k  403k    401x

GET /api/skills                                    | 200+  200+    200   200   200     401x      401x  401u   401u   200+  200+    401x
GET /api/skills/{name}                             | 200+  200+    404S  404S  404S    401x      401x  401u   401u   200+  200+    401x
PUT /api/skills/{name}                             | 200+  200+    201+  201+  201+    401x      401x  401u   401u   403k  403k    401x
PATCH /api/skills/{name}                           | 200   200     404S  404S  404S    401x      401x  401u   401u   403k  403k    401x
DELETE /api/skills/{name}                          | 200   200     404S  404S  404S    401x      401x  401u   401u   403k  403k    401x
GET /api/skills/{name}/versions                    | 200   200     404S  404S  404S    401x      401x  401u   401u   200   200     401x
POST /api/skills/{name}/restore                    | 200+  200+    404S  404S  404S    401x      401x  401u   401u   403k  403k    401x
POST /api/skills/import                            | 400q  400q    400q  400q  400q    401x      401x  401u   401u   403k  403k    401x

GET /api/mcp-servers                               | 200+  200+    200   200   200     401x      401x  401u   401u   200+  200+    401x
POST /api/mcp-servers                              | 201   201     201   201   201     401x      401x  401u   401u   403k  403k    401x
GET /api/mcp-servers/{id}                          | 200+  200+    404M  404M  404M    401x      401x  401u   401u   200+  200+    401x
PATCH /api/mcp-servers/{id}                        | 200+  200+    404M  404M  404M    401x      401x  401u   401u   403k  403k    401x
DELETE /api/mcp-servers/{id}                       | 200   200     404M  404M  404M    401x      401x  401u   401u   403k  403k    401x
POST /api/mcp-servers/{id}/refresh                 | 200+  200+    404M  404M  404M    401x      401x  401u   401u   403k  403k    401x
POST /api/mcp-servers/{id}/confirm                 | 409T  409T    404M  404M  404M    401x      401x  401u   401u   403k  403k    401x

POST /api/mcp-servers/{id}/authorize               | 409G  409G    404M  404M  404M    401x      401x  401u   401u   403k  403k    401x
POST /api/mcp-servers/authorizations               | 404H  404H    404H  404H  404H    401x      401x  401u   401u   403k  403k    401x
GET /api/mcp-servers/client-metadata               | 200   200     200   200   200     200       200   200    200    200   200     200

GET /api/content/templates                         | 200+  200+    200+  200+  200+    401x      401x  401u   401u   200+  200+    401x
GET /api/content/templates/{id}                    | 200+  200+    200+  200+  200+    401x      401x  401u   401u   200+  200+    401x
POST /api/content/image                            | 200+  200+    400f  400f  400f    401x      401x  401u   401u   200+  200+    401x
  artist_id=artist                                 | 200+  200+    400f  400f  404m    401x      401x  401u   401u   200+  200+    401x
  artist_id=foreign                                | 404m  404m    404m  400f  400f    401x      401x  401u   401u   404m  404m    401x
  artist_id=own                                    | 404m  404m    404m  404m  404m    401x      401x  401u   401u   404m  404m    401x
  artist_id=nobody                                 | 404m  404m    404m  404m  404m    401x      401x  401u   401u   404m  404m    401x
  artist_id=malformed                              | 400z  400z    400z  400z  400z    401x      401x  401u   401u   400z  400z    401x
POST /api/content/video                            | 400v  400v    400v  400v  400v    401x      401x  401u   401u   400v  400v    401x
  artist_id=artist                                 | 400v  400v    400v  400v  404m    401x      401x  401u   401u   400v  400v    401x
  artist_id=foreign                                | 404m  404m    404m  400v  400v    401x      401x  401u   401u   404m  404m    401x
  artist_id=own                                    | 404m  404m    404m  404m  404m    401x      401x  401u   401u   404m  404m    401x
  artist_id=nobody                                 | 404m  404m    404m  404m  404m    401x      401x  401u   401u   404m  404m    401x
  artist_id=malformed                              | 400z  400z    400z  400z  400z    401x      401x  401u   401u   400z  400z    401x
POST /api/media                                    | 400B  400B    400B  400B  400B    401x      401x  401u   401u   403k  403k    401x
GET /api/media/{accountId}/{name}                  | 200   200     200   200   200     200       200   200    200    200   200     200
GET /api/media/proxy                               | 400q  400q    400q  400q  400q    401x      401x  401u   401u   403k  403k    401x
DELETE /api/media/{accountId}/{name}               | 200   200     200   200   404h    401x      401x  401u   401u   403k  403k    401x

POST /api/mcp                                      | 200+  200+    200   200   200     401x      401x  401u   401u   200+  200+    401x
POST /api/mcp (change)                             | 200+  200+    200   200   200     401x      401x  401u   401u   200   200     401x

GET /api/tasks/runs                                | 200+  200+    404n  404n  404n    401x      401x  401u   401u   200+  200+    401x
  account_id=own                                   | 200+  200+    404n  404n  404n    401x      401x  401u   401u   200+  200+    401x
  account_id=owner                                 | 200+  200+    200+  200+  403a    401x      401x  401u   401u   200+  200+    401x
  account_id=artist                                | 404n  404n    404n  404n  403a    401x      401x  401u   401u   403a  403a    401x
  account_id=foreign                               | 403a  403a    403a  404n  404n    401x      401x  401u   401u   403a  403a    401x
  account_id=nobody                                | 403a  403a    403a  403a  403a    401x      401x  401u   401u   403a  403a    401x
  account_id=malformed                             | 400i  400i    400i  400i  400i    401x      401x  401u   401u   400i  400i    401x
GET /api/tasks/runs (list)                         | 200+  200+    200   200   200     401x      401x  401u   401u   200+  200+    401x
  account_id=own                                   | 200+  200+    200   200   200     401x      401x  401u   401u   200+  200+    401x
  account_id=owner                                 | 200+  200+    200+  200+  403a    401x      401x  401u   401u   200+  200+    401x
  account_id=artist                                | 200   200     200   200   403a    401x      401x  401u   401u   403a  403a    401x
  account_id=foreign                               | 403a  403a    403a  200   200     401x      401x  401u   401u   403a  403a    401x
  account_id=nobody                                | 403a  403a    403a  403a  403a    401x      401x  401u   401u   403a  403a    401x
  account_id=malformed                             | 400i  400i    400i  400i  400i    401x      401x  401u   401u   400i  400i    401x

POST /api/webhooks                                 | 201   201     201   201   201     401x      401x  401u  401u   403k  403k    401x
GET /api/webhooks                                  | 200+  200+    200   200   200     401x      401x  401u  401u   403k  403k    401x
GET /api/webhooks/{id}                             | 200+  200+    404W  404W  404W    401x      401x  401u  401u   403k  403k    401x
PATCH /api/webhooks/{id}                           | 200+  200+    404W  404W  404W    401x      401x  401u  401u   403k  403k    401x
DELETE /api/webhooks/{id}                          | 200   200     404W  404W  404W    401x      401x  401u  401u   403k  403k    401x
POST /api/webhooks/{id}/rotate                     | 200+  200+    404W  404W  404W    401x      401x  401u  401u   403k  403k    401x
POST /api/webhooks/{id}/test                       | 202+  202+    404W  404W  404W    401x      401x  401u  401u   403k  403k    401x
GET /api/webhooks/{id}/deliveries                  | 200+  200+    404W  404W  404W    401x      401x  401u  401u   403k  403k    401x
POST /api/webhooks/{id}/deliveries/{delivery_id}/redeliver | 202+  202+    404D  404D  404D    401x      401x  401u  401u   403k  403k    401x
POST /api/delivery-addresses                       | 201   201     201   201   201     401x      401x  401u  401u   403k  403k    401x
GET /api/delivery-addresses                        | 200+  200+    200   200   200     401x      401x  401u  401u   403k  403k    401x
DELETE /api/delivery-addresses/{id}                | 200   200     404A  404A  404A    401x      401x  401u  401u   403k  403k    401x
POST /api/tasks                                    | 201   201     201   201   201     401x      401x  401u   401u   403k  403k    401x
  artist_id=artist                                 | 201   201     201   201   404m    401x      401x  401u   401u   403k  403k    401x
  artist_id=foreign                                | 404m  404m    404m  201   201     401x      401x  401u   401u   403k  403k    401x
  artist_id=own                                    | 404m  404m    404m  404m  404m    401x      401x  401u   401u   403k  403k    401x
  artist_id=nobody                                 | 404m  404m    404m  404m  404m    401x      401x  401u   401u   403k  403k    401x
  artist_id=malformed                              | 400z  400z    400z  400z  400z    401x      401x  401u   401u   403k  403k    401x
GET /api/tasks                                     | 200+  200+    200   200   200     401x      401x  401u   401u   403k  403k    401x
GET /api/tasks/{id}                                | 200+  200+    404y  404y  404y    401x      401x  401u   401u   403k  403k    401x
PATCH /api/tasks/{id}                              | 200+  200+    404y  404y  404y    401x      401x  401u   401u   403k  403k    401x
  artist_id=artist                                 | 200+  200+    404y  404y  404m    401x      401x  401u   401u   403k  403k    401x
  artist_id=foreign                                | 404m  404m    404m  404y  404y    401x      401x  401u   401u   403k  403k    401x
  artist_id=own                                    | 404m  404m    404m  404m  404m    401x      401x  401u   401u   403k  403k    401x
  artist_id=nobody                                 | 404m  404m    404m  404m  404m    401x      401x  401u   401u   403k  403k    401x
  artist_id=malformed                              | 400z  400z    400z  400z  400z    401x      401x  401u   401u   403k  403k    401x
DELETE /api/tasks/{id}                             | 200   200     404y  404y  404y    401x      401x  401u   401u   403k  403k    401x
GET /api/tasks/{id}/runs                           | 200   200     404y  404y  404y    401x      401x  401u   401u   403k  403k    401x
POST /api/tasks/{id}/triggers                      | 201+  201+    404y  404y  404y    401x      401x  401u   401u   403k  403k    401x
GET /api/tasks/{id}/triggers                       | 200+  200+    404y  404y  404y    401x      401x  401u   401u   403k  403k    401x
DELETE /api/tasks/{id}/triggers/{trigger_id}       | 200   200     404Y  404Y  404Y    401x      401x  401u   401u   403k  403k    401x
GET /api/tasks/{id}/triggers/{trigger_id}/events   | 200   200     404Y  404Y  404Y    401x      401x  401u   401u   403k  403k    401x
POST /api/triggers/{trigger_id}                    | 401u  401u    401u  401u  401u    401u      401u  401u   401u   403k  403k    403w
POST /api/triggers/composio                        | 401u  401u    401u  401u  401u    401u      401u  401u   401u   403k  403k    403w
POST /api/tasks/{id}/run                           | 202   202     404y  404y  404y    401x      401x  401u   401u   403k  403k    401x
GET /api/requests                                  | 200   200     200   200   200     401x      401x  401u   401u   403k  403k    401x
GET /api/cron/tasks                                | 401u  401u    401u  401u  401u    401u      401u  401u   401u   403k  403k    403w
POST /api/cron/task-runs/{id}                      | 401u  401u    401u  401u  401u    401u      401u  401u   401u   403k  403k    403w

POST /api/connectors                               | 200   200     200   200   200     401x      401x  401u   401u   403k  403k    401x
  account_id=own                                   | 200   200     200   200   200     401x      401x  401u   401u   403k  403k    401x
  account_id=owner                                 | 200   200     200   200   403a    401x      401x  401u   401u   403k  403k    401x
  account_id=artist                                | 200   200     200   200   403a    401x      401x  401u   401u   403k  403k    401x
  account_id=foreign                               | 403a  403a    403a  200   200     401x      401x  401u   401u   403k  403k    401x
  account_id=nobody                                | 403a  403a    403a  403a  403a    401x      401x  401u   401u   403k  403k    401x
  account_id=malformed                             | 400i  400i    400i  400i  400i    401x      401x  401u   401u   403k  403k    401x
GET /api/connectors                                | 200+  200+    200   200   200     401x      401x  401u   401u   403k  403k    401x
  account_id=own                                   | 200+  200+    200   200   200     401x      401x  401u   401u   403k  403k    401x
  account_id=owner                                 | 200+  200+    200+  200+  403a    401x      401x  401u   401u   403k  403k    401x
  account_id=artist                                | 200   200     200   200   403a    401x      401x  401u   401u   403k  403k    401x
  account_id=foreign                               | 403a  403a    403a  200   200     401x      401x  401u   401u   403k  403k    401x
  account_id=nobody                                | 403a  403a    403a  403a  403a    401x      401x  401u   401u   403k  403k    401x
  account_id=malformed                             | 400i  400i    400i  400i  400i    401x      401x  401u   401u   403k  403k    401x
DELETE /api/connectors/{connector}                 | 200+  200+    404E  404E  404E    401x      401x  401u   401u   403k  403k    401x
  account_id=own                                   | 200+  200+    404E  404E  404E    401x      401x  401u   401u   403k  403k    401x
  account_id=owner                                 | 200+  200+    200+  200+  403a    401x      401x  401u   401u   403k  403k    401x
  account_id=artist                                | 404E  404E    404E  404E  403a    401x      401x  401u   401u   403k  403k    401x
  account_id=foreign                               | 403a  403a    403a  404E  404E    401x      401x  401u   401u   403k  403k    401x
  account_id=nobody                                | 403a  403a    403a  403a  403a    401x      401x  401u   401u   403k  403k    401x
  account_id=malformed                             | 400i  400i    400i  400i  400i    401x      401x  401u   401u   403k  403k    401x
GET /api/connectors/{connector}/actions            | 200+  200+    200+  200+  200+    401x      401x  401u   401u   403k  403k    401x
GET /api/connectors/{connector}/events             | 200   200     200   200   200     401x      401x  401u   401u   403k  403k    401x
POST /api/connectors/{connector}/actions/{action}  | 409N  409N    409N  409N  409N    401x      401x  401u   401u   403k  403k    401x
  account_id=own                                   | 409N  409N    409N  409N  409N    401x      401x  401u   401u   403k  403k    401x
  account_id=owner                                 | 409N  409N    409N  409N  403a    401x      401x  401u   401u   403k  403k    401x
  account_id=artist                                | 409N  409N    409N  409N  403a    401x      401x  401u   401u   403a  403a    401x
  account_id=foreign                               | 403a  403a    403a  409N  409N    401x      401x  401u   401u   403a  403a    401x
  account_id=nobody                                | 403a  403a    403a  403a  403a    401x      401x  401u   401u   403a  403a    401x
  account_id=malformed                             | 400i  400i    400i  400i  400i    401x      401x  401u   401u   400i  400i    401x
`;
