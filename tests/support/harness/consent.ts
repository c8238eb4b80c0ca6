import { fetch as plainFetch } from "undici";
import { z } from "zod";

export type ConsentForm = Awaited<ReturnType<typeof openConsent>>;

const field = (html: string, name: string): string =>
  z.string().parse(new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1]);

/** Opens the link of the embedded provider as a browser does, and returns its form. */
export async function openConsent(redirectUrl: string, cookie?: string) {
  const response = await fetch(redirectUrl, { headers: cookie ? { cookie } : {} });
  const html = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${html}`);
  return {
    url: new URL("/connectors/consent", redirectUrl).href,
    fields: { state: field(html, "state"), token: field(html, "token") },
    cookie: (response.headers.get("set-cookie") ?? "").split(";")[0] ?? "",
  };
}

/** Sends the form as a browser does when a button is pressed. @param headers replace the browser's */
export async function decide(
  { url, fields, cookie }: ConsentForm,
  decision: string,
  headers: Record<string, string> = {},
) {
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
