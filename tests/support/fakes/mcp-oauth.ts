/** The authorization server of a fake MCP server, with dynamic registration and rotated refresh tokens. */
import { createHash, randomUUID } from "node:crypto";
import { HttpResponse, http } from "msw";

export const newOAuthState = () => ({
  accessTokens: new Set<string>(),
  refreshTokens: new Set<string>(),
  /** The authorization of each code. */
  codes: new Map<string, { challenge: string; resource: string; redirect: string }>(),
  refreshes: 0,
  /** How the client has authenticated at the token endpoint, the newest last. */
  clients: [] as string[],
  /** A scope that no token has. */
  lacking: null as string | null,
  /** Fields in place of the metadata's own; undefined leaves one out. */
  metadata: {} as Readonly<Record<string, unknown>>,
  resource: {} as Readonly<Record<string, unknown>>,
  /** Further fields of a refusal of the token endpoint. */
  refusal: {} as Readonly<Record<string, unknown>>,
});
type State = { readonly oauth: ReturnType<typeof newOAuthState> };

/** Answers as a person who agrees at this URL would be led back. */
export function approve({ oauth }: State, url: string) {
  const { origin, searchParams } = new URL(url);
  const given = (name: string) => searchParams.get(name) ?? "";
  const code = randomUUID();
  oauth.codes.set(code, {
    challenge: given("code_challenge"),
    resource: given("resource"),
    redirect: given("redirect_uri"),
  });
  return { state: given("state"), code, iss: `${origin}/as` };
}

export const authorizationServer = ({ oauth }: State) => [
  http.get("/as/authorize", ({ request }) => {
    const back = new URL(new URL(request.url).searchParams.get("redirect_uri") ?? "");
    back.search = new URLSearchParams(approve({ oauth }, request.url)).toString();
    return new HttpResponse(null, { status: 302, headers: { location: back.href } });
  }),
  http.get("/.well-known/oauth-protected-resource/oauth/mcp", ({ request }) => {
    const { origin } = new URL(request.url);
    return HttpResponse.json({
      resource: `${origin}/oauth/mcp`,
      authorization_servers: [`${origin}/as`],
      ...oauth.resource,
    });
  }),
  // A second issuer has the same endpoints.
  http.get("/.well-known/oauth-authorization-server/:issuer", ({ request, params }) => {
    const { origin } = new URL(request.url);
    const issuer = `${origin}/${params.issuer}`;
    return HttpResponse.json({
      issuer,
      authorization_endpoint: `${origin}/as/authorize`,
      token_endpoint: `${origin}/as/token`,
      registration_endpoint: `${origin}/as/register`,
      response_types_supported: ["code"],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["none"],
      authorization_response_iss_parameter_supported: true,
      ...oauth.metadata,
    });
  }),
  http.post("/as/register", async ({ request }) =>
    HttpResponse.json(
      { ...Object(await request.json()), client_id: randomUUID() },
      { status: 201 },
    ),
  ),
  http.post("/as/token", async ({ request }) => {
    const form = new URLSearchParams(await request.text());
    const basic = request.headers.get("authorization");
    oauth.clients.push(basic ?? `${form.get("client_id")}:${form.get("client_secret") ?? ""}`);
    const isAllowed =
      form.get("grant_type") === "refresh_token"
        ? oauth.refreshTokens.delete(form.get("refresh_token") ?? "") && ++oauth.refreshes > 0
        : isCodeRight(oauth, form);
    if (!isAllowed) {
      return HttpResponse.json({ error: "invalid_grant", ...oauth.refusal }, { status: 400 });
    }
    const tokens = { access_token: randomUUID(), refresh_token: randomUUID() };
    oauth.accessTokens.add(tokens.access_token);
    oauth.refreshTokens.add(tokens.refresh_token);
    return HttpResponse.json({ ...tokens, token_type: "Bearer", expires_in: 3600 });
  }),
];

function isCodeRight({ codes }: State["oauth"], form: URLSearchParams): boolean {
  const code = form.get("code") ?? "";
  const known = codes.get(code);
  codes.delete(code);
  const challenge = createHash("sha256")
    .update(form.get("code_verifier") ?? "")
    .digest("base64url");
  return (
    known?.challenge === challenge &&
    known.resource === form.get("resource") &&
    known.redirect === form.get("redirect_uri")
  );
}
