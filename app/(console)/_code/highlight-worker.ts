/** Highlights code in a worker, so a slow grammar cannot block the page. */
import type { CodeLine } from "./languages.ts";
import { createTokenizer } from "./tokenize.ts";

export interface HighlightRequest {
  /** The block of code; its lines come in order, over several requests. */
  readonly block: number;
  readonly language: string;
  /** The next lines; null ends the block. */
  readonly text: string | null;
}

export interface HighlightAnswer {
  readonly block: number;
  /** Null if the code cannot be highlighted. */
  readonly lines: readonly CodeLine[] | null;
  readonly error: string | null;
}

const tokenizers = new Map<number, ReturnType<typeof createTokenizer>>();

addEventListener("message", ({ data }: MessageEvent<HighlightRequest>) => void answer(data));

async function answer({ block, language, text }: HighlightRequest): Promise<void> {
  if (text === null) {
    tokenizers.delete(block);
    return;
  }
  const tokenizer = tokenizers.get(block) ?? createTokenizer(language);
  tokenizers.set(block, tokenizer);
  const answered: HighlightAnswer = await tokenizer.then(
    (found) => ({ block, lines: found?.next(text) ?? null, error: null }),
    (error) => ({ block, lines: null, error: String(error) }),
  );
  postMessage(answered);
}
