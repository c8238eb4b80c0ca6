/** With `SOAK=1`, these ask every endpoint all that they ask some of otherwise. */
import { vi } from "vitest";
import "./hostile-inputs-requests.test.ts";

vi.setConfig({ testTimeout: 10 * 60_000 });
