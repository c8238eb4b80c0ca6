import { fetch as plainFetch } from "undici";
import { z } from "zod";

export interface ConsentForm {
  readonly url: string;
  readonly fields: { readonly state: string; readonly token: string };
  readonly cookie: string;
}

const field = (html: string, name: string): string =>
  z.string().parse(new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1]);

/** What a browser has after it has opened the link of the embedded provider. */
export async function openConsent(redirectUrl: string, cookie?: string): Promise<ConsentForm> {
  const response = await fetch(redirectUrl, { headers: cookie ? { cookie } : {} });
  const html = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${html}`);
  return {
    url: new URL("/connectors/consent", redirectUrl).href,
    fields: { state: field(html, "state"), token: field(html, "token") },
    cookie: (response.headers.get("set-cookie") ?? "").split(";")[0] ?? "",
  };
}

/** What a browser sends when a button of the page is pressed; what is given replaces it. */
export async function decide(
  { url, fields, cookie }: ConsentForm,
  decision: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; location: string; text: string }> {
  // Node's own fetch refuses to set `origin` and `sec-fetch-site`, which a browser does.
  const response = await plainFetch(url, {
    method: "POST",
    redirect: "manual",
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      origin: new URL(url).origin,
      "sec-fetch-site": "same-origin",
      cookie,
      ...headers,
    },
    body: new URLSearchParams({ ...fields, decision }).toString(),
  });
  const location = response.headers.get("location") ?? "";
  return { status: response.status, location, text: await response.text() };
}
