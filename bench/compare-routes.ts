/** An endpoint against another way to the same answer, under the same load, in turns. */
import { sqlName } from "../lib/platform/database/port.ts";
import { type BenchContext, quantile, report } from "./context.ts";

const AT_ONCE = 16;
const SLICES = 6;
const SLICE_MS = 1_000;
const WARM_UP_MS = 1_500;

export interface Way {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A GET of the product with the bench's key. */
export const endpoint = ({ url, key }: BenchContext, path: string): Way => ({
  url: url + path,
  headers: { "x-api-key": key },
});

/** A bare route handler that makes the same call of the database, and nothing else. */
export function bareCall({ bareUrl }: BenchContext, name: string, args: object): Way {
  const named = Object.entries(args).map(([key, value]) => [sqlName(key), value]);
  const query = new URLSearchParams({ args: JSON.stringify(Object.fromEntries(named)) });
  return { url: `${bareUrl}/api/rpc/${name}?${query}` };
}

/** Requests a second, and the duration of one among them. */
export async function compareRoutes(what: string, ours: Way, bare: Way): Promise<void> {
  const [our, their] = [new Load(ours), new Load(bare)];
  await our.run(WARM_UP_MS);
  await their.run(WARM_UP_MS);
  our.forget();
  their.forget();
  // In slices, which expose both to the same load of the machine.
  for (let slice = 0; slice < SLICES; slice++) {
    await our.run(SLICE_MS);
    await their.run(SLICE_MS);
  }
  report(`${what}, ${AT_ONCE} at once`, "/s", our.perSecond, their.perSecond);
  for (const [name, q] of [
    ["p50", 0.5],
    ["p99", 0.99],
  ] as const) {
    report(`${what}, ${name}`, "ms", quantile(our.times, q), quantile(their.times, q));
  }
}

class Load {
  readonly #way: Way;
  times: number[] = [];
  #spent = 0;

  constructor(way: Way) {
    this.#way = way;
  }

  forget(): void {
    this.times = [];
    this.#spent = 0;
  }

  get perSecond(): number {
    return (this.times.length / this.#spent) * 1_000;
  }

  async run(ms: number): Promise<void> {
    const started = performance.now();
    await Promise.all(Array.from({ length: AT_ONCE }, () => this.#repeat(started + ms)));
    this.#spent += performance.now() - started;
  }

  async #repeat(until: number): Promise<void> {
    const { url, headers = {} } = this.#way;
    for (let now = performance.now(); now < until; ) {
      const response = await fetch(url, { headers });
      const text = await response.text();
      if (!response.ok) throw new Error(`${url}: ${response.status} ${text}`);
      const ended = performance.now();
      this.times.push(ended - now);
      now = ended;
    }
  }
}
