/** The mails about a run. */
import type { Mail } from "../mail/port.ts";
import { escapeHtml } from "../platform/html-page.ts";
import { serviceOrigin } from "../platform/service-origin.ts";
import type { AttachedFiles } from "./attach-files.ts";
import { firstParagraph, renderMarkdown, singleLine } from "./render-markdown.ts";
import type { DeliveryJob, NoticeJob, ResultJob, WaitingJob } from "./store.ts";
import { unsubscribeUrl } from "./tokens.ts";

const MAX_SUMMARY_CHARS = 1_000;
/** Of an answer; the rest is in the console. */
const MAX_CHARS = 50_000;
const MAX_SUBJECT_CHARS = 200;

const runUrl = ({ runId }: DeliveryJob) => `${serviceOrigin()}/runs/${encodeURIComponent(runId)}`;

export function renderResult(job: ResultJob, { files, remarks }: AttachedFiles): Mail {
  const { entry, answer } = job;
  const isSummary = entry.format === "summary";
  const body = isSummary ? firstParagraph(answer, MAX_SUMMARY_CHARS) : answer.slice(0, MAX_CHARS);
  const notes = [
    ...(!isSummary && answer.length > MAX_CHARS ? ["The answer is longer than this mail."] : []),
    ...remarks,
  ];
  const subject = singleLine(entry.subject ?? job.title) || "The result of a run";
  return {
    ...mailOf(job, subject, body.toWellFormed(), notes, "Open the run"),
    attachments: files,
  };
}

export function renderNotice(job: NoticeJob): Mail {
  const { reason, earlier } = job.entry;
  const title = singleLine(job.title);
  const body = `The result of “${title}” was not sent to its recipients: ${reason.charAt(0).toLowerCase()}${reason.slice(1)}.`;
  const more = `${earlier} more ${earlier === 1 ? "result was" : "results were"} withheld since the notice before.`;
  const limit = "You get at most one such notice a day for a task.";
  const notes = earlier > 0 ? [more, limit] : [limit];
  return mailOf(job, `Not delivered: ${title}`, escapeMarkdown(body), notes, "Open the run", body);
}

/** It has nothing of what the agent asks for: that may be secret, or the words of a stranger. */
export function renderWaiting(job: WaitingJob): Mail {
  const title = singleLine(job.title) || "A run";
  const body = `“${title}” waits for you: the agent asks for an approval, or needs a result from a client.`;
  const settings = `${serviceOrigin()}/settings/notifications`;
  const notes = [`You get one such mail for a run. Turn them off at ${settings}`];
  return mailOf(job, `Waiting: ${title}`, escapeMarkdown(body), notes, "Open the run", body);
}

function mailOf(
  job: DeliveryJob,
  subject: string,
  markdown: string,
  notes: readonly string[],
  linkText: string,
  text = markdown,
): Mail {
  const url = runUrl(job);
  const unsubscribe = unsubscribeUrl(job.accountId, job.recipient);
  const sender = singleLine(job.sender ?? "") || "an account";
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
      `${linkText}: ${url}`,
      `-- \n${footer} Unsubscribe: ${unsubscribe}\n`,
    ].join("\n\n"),
    html: `<!doctype html>
<html lang="en"><head><meta charset="utf-8"></head>
<body style="font: 16px/1.5 system-ui, sans-serif; max-width: 42rem; margin: 1rem">
${renderMarkdown(markdown)}
${notes.map((note) => `<p>${escapeHtml(note)}</p>`).join("\n")}
<p><a href="${escapeHtml(url)}">${linkText}</a></p>
<hr>
<p><small>${escapeHtml(footer)} <a href="${escapeHtml(unsubscribe)}">Unsubscribe</a></small></p>
</body></html>
`,
  };
}

const escapeMarkdown = (text: string): string => text.replace(/[\\`*_[\]<>#|~&!:.@]/g, "\\$&");
