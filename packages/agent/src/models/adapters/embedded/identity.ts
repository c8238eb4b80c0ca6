export const EMBEDDED_MODEL_ID = "embedded/rules";
export const EMBEDDED_PROVIDER = "embedded";

const REAL_MODEL =
  "For a real model set AI_GATEWAY_API_KEY, or OPENAI_BASE_URL (with OPENAI_API_KEY where the server wants one) for any " +
  "OpenAI-compatible server such as Ollama or vLLM.";

/** The answer to a request that no rule covers. */
export const INTRODUCTION = `No AI model is connected to this server yet. I am the embedded rule-based model: a small \
stand-in, not an AI. I follow fixed rules, so that everything here can be tried without an account anywhere.

I drive the tools of the agent. Try one of these, or several joined by "then", one a line, or with "at once":
- plan: draft the release note, check the dates, send it
- ask me "Which format?" with options: album, single
- write "Out on Friday" to announcement.txt
- read announcement.txt
- list files matching **/*.txt
- search for Friday in announcement.txt
- run \`ls -la\`
- delegate: run \`ls\` and read announcement.txt
- fetch https://example.com
- check this royalty statement
- count to 20, or repeat la 10 times

${REAL_MODEL}`;
