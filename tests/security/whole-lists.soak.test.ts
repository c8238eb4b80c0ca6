/** With `SOAK=1`, each test covers every endpoint instead of some. */
import { vi } from "vitest";
import "./hostile-inputs-requests.test.ts";

vi.setConfig({ testTimeout: 10 * 60_000 });
