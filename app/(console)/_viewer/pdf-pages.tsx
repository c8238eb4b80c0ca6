import { useEffect, useRef, useState } from "react";
import { checkChunk } from "../_load/load-module.ts";
import { ScrollBox } from "../_ui/scroll-box.tsx";
import { ErrorState, Loading } from "../_ui/states.tsx";
import type { PdfAnswer, PdfRequest } from "./pdf-worker.ts";

/** For the document or one page; then it is stopped. */
const DEADLINE_MS = 30_000;
const MAX_PAGES = 2_000;

const FAILURES: Readonly<Record<NonNullable<PdfAnswer["failure"]>, string>> = {
  protected: "This PDF is protected with a password. Download it to open it.",
  damaged: "This PDF is damaged. Download it to try another program.",
  slow: "This PDF takes too long to draw. Choose Text, or download it.",
};

type Reader = ReturnType<typeof startReader>;

/** Starts a worker for one document. `ask` never rejects. */
function startReader() {
  const worker = new Worker(new URL("./pdf-worker.ts", import.meta.url), { type: "module" });
  const waiting = new Map<number, (answer: PdfAnswer) => void>();
  let failure: PdfAnswer["failure"];
  let lastId = 0;
  const stop = (reason: PdfAnswer["failure"]) => {
    worker.terminate();
    failure ??= reason;
    for (const [id, resolve] of [...waiting]) resolve({ id, failure });
  };
  worker.onmessage = ({ data }: MessageEvent<PdfAnswer>) => waiting.get(data.id)?.(data);
  worker.onerror = ({ filename }) => {
    void checkChunk(filename);
    stop("damaged");
  };
  const ask = (question: Omit<PdfRequest, "id">) =>
    new Promise<PdfAnswer>((resolve) => {
      const id = ++lastId;
      if (failure) return resolve({ id, failure });
      const timer = setTimeout(stop, DEADLINE_MS, "slow");
      waiting.set(id, (answer) => {
        clearTimeout(timer);
        waiting.delete(id);
        resolve(answer);
      });
      worker.postMessage({ ...question, id });
    });
  return { ask, stop };
}

interface PdfPagesProps {
  readonly bytes: ArrayBuffer;
  readonly label: string;
  /** The number of the page that is shown first. */
  readonly cited: string | null;
}

/** The pages of a PDF as images with their texts: no link, script or form of the document works here. */
export function PdfPages({ bytes, label, cited }: PdfPagesProps) {
  const [pdf, setPdf] = useState<{ readonly reader: Reader; readonly opened: PdfAnswer } | null>(
    null,
  );
  useEffect(() => {
    const reader = startReader();
    let isClosed = false;
    void reader.ask({ bytes }).then((opened) => isClosed || setPdf({ reader, opened }));
    return () => {
      isClosed = true;
      reader.stop("slow");
      setPdf(null);
    };
  }, [bytes]);
  if (pdf === null) return <Loading label="Loading file…" className="m-4 h-40" />;
  const { pages = 0, failure } = pdf.opened;
  if (failure) {
    return (
      <div className="p-4">
        <ErrorState error={{ message: FAILURES[failure], requestId: null }} />
      </div>
    );
  }
  return (
    <ScrollBox label={label} className="min-h-0 flex-1 rounded-none bg-muted p-2">
      {Array.from({ length: Math.min(pages, MAX_PAGES) }, (_, index) => (
        <PdfPage
          // biome-ignore lint/suspicious/noArrayIndexKey: a document never changes
          key={index}
          reader={pdf.reader}
          number={index + 1}
          isCited={`${index + 1}` === cited}
        />
      ))}
      {pages > MAX_PAGES && <p className="p-2">Only the first {MAX_PAGES} pages are shown.</p>}
    </ScrollBox>
  );
}

type PdfPageProps = Readonly<{ reader: Reader; number: number; isCited: boolean }>;

/** One page, drawn while it is near the part in view. */
function PdfPage({ reader, number, isCited }: PdfPageProps) {
  const place = useRef<HTMLElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [page, setPage] = useState({ text: "", ratio: 1 / Math.SQRT2, failure: "" });
  useEffect(() => {
    const section = place.current;
    if (section === null) return;
    if (isCited) section.scrollIntoView();
    let isNear = false;
    const show = (image: ImageBitmap | null) => {
      const { width, height } = image ?? { width: 1, height: 1 };
      if (canvas.current === null) return;
      Object.assign(canvas.current, { width, height });
      canvas.current.getContext("bitmaprenderer")?.transferFromImageBitmap(image);
    };
    const draw = async () => {
      const width = Math.ceil(section.clientWidth * devicePixelRatio);
      const { drawn, failure } = await reader.ask({ page: number, width });
      if (failure) setPage((known) => ({ ...known, failure: FAILURES[failure] }));
      if (!drawn || !isNear) return drawn?.image.close();
      const { image, text } = drawn;
      setPage({ text, ratio: image.width / image.height, failure: "" });
      show(image);
    };
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (isNear === entry?.isIntersecting) return;
        isNear = entry?.isIntersecting === true;
        // Gives the memory of the image back.
        if (isNear) void draw();
        else show(null);
      },
      { root: section.parentElement, rootMargin: "100% 0px" },
    );
    observer.observe(section);
    return () => {
      isNear = false;
      observer.disconnect();
    };
  }, [reader, number, isCited]);
  return (
    <section
      ref={place}
      aria-label={`Page ${number}`}
      {...(isCited && { "aria-current": true })}
      style={{ aspectRatio: page.ratio }}
      className="mx-auto mb-2 max-w-4xl bg-white shadow-xs outline-accent aria-[current]:outline-2"
    >
      {page.failure && <p className="p-4 text-black">{page.failure}</p>}
      <canvas ref={canvas} aria-hidden className="size-full" />
      <p className="sr-only">{page.text}</p>
    </section>
  );
}
