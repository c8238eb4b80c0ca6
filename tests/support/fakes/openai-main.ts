/** `node tests/support/fakes/openai-main.ts [port]`: the scripted model as a process of its own. */
import { startFakeOpenAI } from "./openai.ts";

const { url, close } = await startFakeOpenAI({ port: Number(process.argv[2] ?? 0) });
console.log(url);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void close());
