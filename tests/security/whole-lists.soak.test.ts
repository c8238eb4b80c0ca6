/** With `SOAK=1`, these ask every endpoint all that they ask some of otherwise. */
import { vi } from "vitest";
import "../api/chat-runs-output-schemas.test.ts";
import "./bad-credentials.test.ts";
import "./hostile-inputs-requests.test.ts";
import "./malformed-requests.test.ts";

vi.setConfig({ testTimeout: 10 * 60_000 });
