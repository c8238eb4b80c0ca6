/** Small pages without scripts, outside of the console. */
import { createHash } from "node:crypto";

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 26rem; margin: 15vh auto 0; padding: 0 1rem; }
form { display: flex; gap: .75rem; margin-top: 1.5rem; }
button { font: inherit; padding: .5rem 1.25rem; border: 1px solid; border-radius: .5rem; cursor: pointer; }
button[value="allow"] { font-weight: 600; }
`;
const STYLE_HASH = createHash("sha256").update(STYLE).digest("base64");

/** Escapes text for HTML elements and quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

interface Page {
  readonly status: number;
  readonly title: string;
  /** HTML in which the caller has escaped all text. */
  readonly body: string;
  /** A CSP source, besides this service, to which the form may lead. */
  readonly formTarget?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export function renderPage({ status, title, body, formTarget, headers }: Page): Response {
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
<h1>${escapeHtml(title)}</h1>
${body}
</html>
`;
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${STYLE_HASH}'`,
    // Browsers also apply it to the redirect that answers the form.
    `form-action 'self'${formTarget ? ` ${formTarget}` : ""}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  return new Response(html, {
    status,
    headers: {
      ...headers,
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": policy.join("; "),
      "x-frame-options": "DENY",
      "x-content-type-options": "nosniff",
      "cross-origin-opener-policy": "same-origin",
      // Not `no-referrer`, with which browsers would also omit the origin of the form.
      "referrer-policy": "same-origin",
      "cache-control": "no-store",
    },
  });
}

/** Renders a page with only a message. */
export function renderNotice(status: number, title: string, text: string): Response {
  const response = renderPage({ status, title, body: `<p>${escapeHtml(text)}</p>` });
  if (status === 503) response.headers.set("retry-after", "1");
  return response;
}
