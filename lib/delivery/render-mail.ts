/** The mails about a run. */
import { type DocumentWork, runDocumentWorker } from "@platform/documents/run-document-worker";
import { escapeHtml } from "@platform/kit/html-page";
import { log } from "@platform/kit/log";
import { withoutLinks } from "@platform/kit/shown-links";
import type { Mail } from "../mail/port.ts";
import { serviceOrigin } from "../platform/service-origin.ts";
import { type AttachedFiles, singleLine } from "./attach-files.ts";
import type { DeliveryJob, NoticeJob, ResultJob, WaitingJob } from "./store.ts";
import { unsubscribeUrl } from "./tokens.ts";

const MAX_SUMMARY_CHARS = 1_000;
/** Of an answer; the rest is in the console. */
const MAX_CHARS = 50_000;
const MAX_SUBJECT_CHARS = 200;
/** To turn an answer into HTML, which a hostile one can prolong without end. */
const HTML_TIMEOUT_MS = 10_000;

const runUrl = ({ runId }: DeliveryJob) => `${serviceOrigin()}/runs/${encodeURIComponent(runId)}`;

export async function renderResult(
  work: DocumentWork,
  job: ResultJob,
  { files, remarks }: AttachedFiles,
): Promise<Mail> {
  const { entry, answer } = job;
  const isSummary = entry.format === "summary";
  const body = isSummary ? firstParagraph(answer, MAX_SUMMARY_CHARS) : answer.slice(0, MAX_CHARS);
  const notes = [
    ...(!isSummary && answer.length > MAX_CHARS ? ["The answer is longer than this mail."] : []),
    ...remarks,
  ];
  const subject = singleLine(entry.subject ?? job.title) || "The result of a run";
  const text = body.toWellFormed();
  const mail = mailOf(job, subject, { text, html: await htmlOf(work, text) }, notes);
  return { ...mail, attachments: files };
}

/** Returns the text as it is if it cannot be turned into HTML. */
async function htmlOf(work: DocumentWork, content: string): Promise<string> {
  const signal = AbortSignal.timeout(HTML_TIMEOUT_MS);
  const written = await runDocumentWorker<{ html: string }>(
    work,
    { kind: "mail", content },
    signal,
  ).catch((error: unknown) => log().warn({ err: error }, "a mail has its text as it is"));
  return typeof written === "object" ? written.html : `<pre>${escapeHtml(content)}</pre>`;
}

export function renderNotice(job: NoticeJob): Mail {
  const { reason, earlier } = job.entry;
  const title = withoutLinks(singleLine(job.title));
  const body = `The result of “${title}” was not sent to its recipients: ${reason.charAt(0).toLowerCase()}${reason.slice(1)}.`;
  const more = `${earlier} more ${earlier === 1 ? "result was" : "results were"} withheld since the notice before.`;
  const limit = "You get at most one such notice a day for a task.";
  const notes = earlier > 0 ? [more, limit] : [limit];
  return mailOf(job, `Not delivered: ${title}`, plain(body), notes);
}

/** The mail omits the request itself, which may contain secrets or a stranger's words. */
export function renderWaiting(job: WaitingJob): Mail {
  const title = withoutLinks(singleLine(job.title)) || "A run";
  const body = `“${title}” waits for you: the agent asks for an approval, or needs a result from a client.`;
  const settings = `${serviceOrigin()}/settings/notifications`;
  const notes = [`You get one such mail for a run. Turn them off at ${settings}`];
  return mailOf(job, `Waiting: ${title}`, plain(body), notes);
}

function mailOf(
  job: DeliveryJob,
  subject: string,
  { text, html }: { readonly text: string; readonly html: string },
  notes: readonly string[],
): Mail {
  const url = runUrl(job);
  const unsubscribe = unsubscribeUrl(job.accountId, job.recipient);
  const sender = withoutLinks(singleLine(job.sender ?? "")) || "an account";
  const footer = `Sent for ${sender}.`;
  return {
    to: job.recipient,
    subject: subject.slice(0, MAX_SUBJECT_CHARS).toWellFormed(),
    messageId: `<delivery-${job.id}@${new URL(serviceOrigin()).hostname}>`,
    headers: {
      "List-Unsubscribe": `<${unsubscribe}>`,
      "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
      "Auto-Submitted": "auto-generated",
    },
    text: [
      text,
      ...notes,
      `Open the run: ${url}`,
      `-- \n${footer} Unsubscribe: ${unsubscribe}\n`,
    ].join("\n\n"),
    html: `<!doctype html>
<html lang="en"><head><meta charset="utf-8"></head>
<body style="font: 16px/1.5 system-ui, sans-serif; max-width: 42rem; margin: 1rem">
${html}
${notes.map((note) => `<p>${escapeHtml(note)}</p>`).join("\n")}
<p><a href="${escapeHtml(url)}">Open the run</a></p>
<hr>
<p><small>${escapeHtml(footer)} <a href="${escapeHtml(unsubscribe)}">Unsubscribe</a></small></p>
</body></html>
`,
  };
}

const plain = (text: string) => ({ text, html: `<p>${escapeHtml(text)}</p>` });

/** Returns the first paragraph, or the beginning of the text. */
function firstParagraph(markdown: string, maxChars: number): string {
  const found = markdown
    .split(/\n\s*\n/)
    .map((block) => block.trim())
    .find((block) => block !== "" && !/^(?:#|---|```|\||[*-]{3})/.test(block));
  const text = found ?? markdown.trim();
  return text.length <= maxChars ? text : `${text.slice(0, maxChars - 1).toWellFormed()}…`;
}
