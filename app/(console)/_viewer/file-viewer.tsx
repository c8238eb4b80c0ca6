import type { DocumentText, Sheet } from "@platform/documents/document";
import { type ReactNode, useEffect, useReducer, useState } from "react";
import { type ApiError, fetchWithBearer, networkError, toApiError } from "../_api/request.ts";
import { languageOfPath } from "../_code/languages.ts";
import { Button } from "../_ui/button.tsx";
import { CopyButton } from "../_ui/copy-button.tsx";
import { Segmented } from "../_ui/form.tsx";
import { ExternalLink } from "../_ui/icons.tsx";
import { openPdf } from "../_ui/save-file.ts";
import { ScrollBox } from "../_ui/scroll-box.tsx";
import { ErrorState, Loading } from "../_ui/states.tsx";
import { Code } from "../chat/_message/code-block.tsx";
import { Markdown } from "../chat/_message/markdown.tsx";
import { PdfPages } from "./pdf-pages.tsx";
import { TableView } from "./table-view.tsx";

/** The number of characters shown; the whole file can be downloaded. */
const MAX_SHOWN_LENGTH = 300_000;
const DOCUMENTS = /^(pdf|doc[xm]|xls[xm]?|ods|pptx|eml|msg|rtf)$/;
/** Types that cannot contain a script. */
const MEDIA: Readonly<Record<string, string>> = {
  ...{ png: "image/png", jpg: "image/jpeg", jpeg: "image/jpeg", gif: "image/gif" },
  ...{ webp: "image/webp", avif: "image/avif", mp4: "video/mp4", webm: "video/webm" },
  ...{ mov: "video/quicktime", mp3: "audio/mpeg", m4a: "audio/mp4", wav: "audio/wav" },
  ...{ ogg: "audio/ogg", flac: "audio/flac" },
};

interface ReadFile {
  readonly document?: DocumentText;
  readonly text?: string;
  readonly pdf?: ArrayBuffer;
  /** An object URL of any other file. */
  readonly url?: string;
  readonly error?: ApiError;
}

interface FileViewerProps {
  /** The path of the API for the content of the file, with a query. */
  readonly address: string;
  readonly name: string;
  /** The `page`, or the `sheet` and `row`, that is shown first. */
  readonly place: URLSearchParams;
  /** Reads the file again when it changes. */
  readonly revision?: number | undefined;
}

/** Splits `file#page=3` or `file#sheet=Q1&row=17` into the path and the place in the file. */
export function splitPlace(address: string): readonly [path: string, place: URLSearchParams] {
  const [path = ""] = address.split(/#(?=(?:page|sheet|row)=)/, 1);
  return [path, new URLSearchParams(address.slice(path.length + 1))];
}

/**
 * Shows a file. Nothing of it becomes HTML of this origin: documents are text from the server or drawn pages, and
 * bytes are given only to images, audio and video.
 */
export function FileViewer({ address, name, place, revision }: FileViewerProps) {
  const [file, setFile] = useState<ReadFile | null>(null);
  const [attempt, retry] = useReducer((count: number) => count + 1, 0);
  const extension = languageOfPath(name).toLowerCase();
  const [showsPages, showPages] = useState(true);
  const isText = extension !== "pdf" || !showsPages;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new revision reads the file again
  useEffect(() => {
    const closed = new AbortController();
    const reading = readFile(address, name, closed.signal, isText);
    void reading.then((read) => closed.signal.aborted || setFile(read));
    return () => {
      closed.abort();
      void reading.then((read) => read.url && URL.revokeObjectURL(read.url));
    };
  }, [address, name, revision, attempt, isText]);
  if (file === null) return <Loading label="Loading file…" className="m-4 h-40" />;
  const { document, text, pdf, url, error } = file;
  const pdfBar = extension === "pdf" && (
    <Bar text={document?.about}>
      <Segmented
        label="Show"
        hideLabel
        value={isText ? "text" : "pages"}
        onChange={(value) => showPages(value === "pages")}
        options={[
          { value: "pages", label: "Pages" },
          { value: "text", label: "Text" },
        ]}
      />
      <Button icon={ExternalLink} size="sm" variant="outline" onClick={() => void openPdf(address)}>
        Open
      </Button>
    </Bar>
  );
  if (error) {
    return (
      <>
        {pdfBar}
        <div className="p-4">
          <ErrorState error={error} onRetry={retry} />
        </div>
      </>
    );
  }
  const label = `Content of ${name}`;
  if (document?.sheets.length) {
    return <Sheets key={`${place}`} sheets={document.sheets} place={place} />;
  }
  if (document) {
    return (
      <>
        {pdfBar || <Bar text={document.about}>{null}</Bar>}
        <ScrollBox label={label} className="min-h-0 flex-1 rounded-none">
          {document.sections.map((section, index) => {
            const isCited = `${index + 1}` === place.get("page");
            return (
              <section
                key={section.title}
                ref={isCited ? scrollHere : null}
                {...(isCited && { "aria-current": true })}
                className="border-b p-4 [content-visibility:auto] aria-[current]:bg-accent-soft"
              >
                {section.title && <h3 className="mb-2 font-semibold">{section.title}</h3>}
                <p className="max-w-prose whitespace-pre-wrap wrap-anywhere">{section.text}</p>
              </section>
            );
          })}
        </ScrollBox>
      </>
    );
  }
  if (text !== undefined) {
    const shown = text.slice(0, MAX_SHOWN_LENGTH);
    const isCut = shown.length < text.length;
    return (
      <>
        <Bar text={isCut ? "Only the beginning is shown. Download the file to see the rest." : ""}>
          <CopyButton text={text} label="Copy text" variant="ghost" className="size-7" />
        </Bar>
        {extension === "md" ? (
          <ScrollBox label={label} className="min-h-0 flex-1 rounded-none p-4">
            <Markdown text={shown} />
          </ScrollBox>
        ) : (
          <Code text={shown} label={label} language={extension} className="min-h-0 flex-1" />
        )}
      </>
    );
  }
  if (pdf) {
    return (
      <>
        {pdfBar}
        <PdfPages bytes={pdf} label={label} cited={place.get("page")} />
      </>
    );
  }
  const kind = MEDIA[extension]?.split("/")[0];
  if (kind === "image") {
    // biome-ignore lint/performance/noImgElement: it is an object URL
    return <img src={url} alt={name} className="m-auto max-h-full max-w-full min-h-0 p-4" />;
  }
  if (kind === "audio" || kind === "video") {
    const Kind = kind;
    return <Kind src={url} aria-label={name} controls className="m-auto max-h-full min-h-0 p-4" />;
  }
  return (
    <p className="px-6 py-10 text-center text-muted-foreground">
      This file cannot be previewed. Download it to open it.
    </p>
  );
}

function Sheets({ sheets, place }: Readonly<{ sheets: readonly Sheet[]; place: URLSearchParams }>) {
  const [name, setName] = useState(place.get("sheet"));
  const shown = sheets.find((sheet) => sheet.name === name) ?? sheets[0];
  if (!shown) return null;
  const options = sheets.map((sheet) => ({ value: sheet.name, label: sheet.name }));
  return (
    <>
      {sheets.length > 1 && (
        <Bar>
          <Segmented
            label="Sheet"
            hideLabel
            {...{ options }}
            value={shown.name}
            onChange={setName}
          />
        </Bar>
      )}
      <TableView key={shown.name} sheet={shown} row={Number(place.get("row"))} />
    </>
  );
}

const scrollHere = (section: HTMLElement | null) => section?.scrollIntoView();

const Bar = ({ text = "", children }: { readonly text?: string; readonly children: ReactNode }) => (
  <div className="flex min-h-10 shrink-0 items-center gap-2 border-b px-4 py-1 text-sm text-muted-foreground">
    {children}
    <p className="min-w-0 flex-1 wrap-anywhere">{text}</p>
  </div>
);

export async function readFile(
  address: string,
  name: string,
  signal: AbortSignal,
  asText = true,
): Promise<ReadFile> {
  const extension = languageOfPath(name).toLowerCase();
  const isDocument = asText && DOCUMENTS.test(extension);
  try {
    const path = isDocument ? `${address}&as=document` : address;
    const response = await fetchWithBearer(path, { signal });
    if (!response.ok) {
      const given = response.clone();
      const error = await toApiError(response);
      // The response describes the defect of the file.
      const message = error.status === 400 ? (await given.json()).error : error.message;
      return { error: { ...error, message } };
    }
    if (isDocument) return { document: await response.json() };
    // One without binary data is also text.
    if (extension === "pdf") return { pdf: await response.arrayBuffer() };
    if (response.headers.get("content-type")?.startsWith("text/")) {
      const text = await response.text();
      if (!/^[ct]sv$/.test(extension)) return { text };
      return { document: { about: "", sections: [], sheets: [{ name, rows: 0, csv: text }] } };
    }
    // Never an HTML type: the file must not run as a page of this origin.
    const type = MEDIA[extension] ?? "application/octet-stream";
    return { url: URL.createObjectURL(new Blob([await response.blob()], { type })) };
  } catch {
    return { error: networkError };
  }
}
