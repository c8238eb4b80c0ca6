/** The context of every bench, and how figures are taken and printed. */
export interface BenchContext {
  /** The product: a production server with embedded parts. */
  readonly url: string;
  readonly key: string;
  /** The baseline: plain route handlers of a bare Next application, built and served alike. */
  readonly bareUrl: string;
  /** The process ids of both servers. */
  readonly pid: number;
  readonly barePid: number;
  readonly databaseUrl: string;
  /** Settings of the product's server, to start another one beside it. */
  readonly env: Readonly<Record<string, string>>;
}

export type Bench = (context: BenchContext) => Promise<void>;

export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** One row: the product against its baseline, and their ratio. */
export function report(what: string, unit: string, ours: number, bare: number): void {
  const figure = (value: number) => `${value.toFixed(value < 10 ? 2 : 1)} ${unit}`;
  const difference = `${ours >= bare ? "+" : ""}${(ours - bare).toFixed(1)}`;
  const ratio = bare === 0 ? difference : `${(ours / bare).toFixed(2)}x, ${difference}`;
  console.log(
    `${what.padEnd(58)} ${figure(ours).padStart(12)} ${figure(bare).padStart(12)}   ${ratio}`,
  );
}
