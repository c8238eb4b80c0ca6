export const EMBEDDED_MODEL_ID = "embedded/rules";
export const EMBEDDED_PROVIDER = "embedded";

/** The answer to a request that no rule covers. */
export const INTRODUCTION = `I am the embedded rule-based model: a small stand-in, not an AI. I follow fixed rules, so that \
the whole platform can be tried without an account anywhere. For a real model set AI_GATEWAY_API_KEY, or OPENAI_BASE_URL \
(with OPENAI_API_KEY where the server wants one) for any OpenAI-compatible server such as Ollama or vLLM.

I really drive the tools. Try one of these, or several joined by "then", one a line, or with "at once":
- run \`ls -la\`
- write "hello" to notes.txt
- read notes.txt
- list files matching **/*.txt
- search for hello in notes.txt
- plan: draft the release note, check the dates, send it
- delegate: run \`ls\` and read notes.txt
- fetch https://example.com
- ask me "Which format?" with options: album, single
- use skill press-kit with the new single
- count to 20, or repeat la 10 times`;
