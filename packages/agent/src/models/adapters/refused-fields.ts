/**
 * Servers with OpenAI's API accept different fields of it, and reject a request for one that they do not know. Such a
 * request is sent once more without that field, and the next requests of the model have it no more.
 */
import { createHash } from "node:crypto";
import { saysTooLong } from "../../describe-failure.ts";

type Fields = Record<string, unknown>;
interface Body extends Fields {
  readonly model?: unknown;
  readonly messages: readonly Fields[];
}

/** A form of requests that a server demands. */
interface Form {
  readonly name: string;
  readonly adapt: (body: Body) => Body;
}

type Edit = (message: Fields, index: number, all: readonly Fields[]) => Fields | readonly Fields[];

const editMessages =
  (edit: Edit) =>
  (body: Body): Body => ({ ...body, messages: body.messages.flatMap(edit) });

const callsOf = ({ tool_calls }: Fields): readonly Fields[] =>
  Array.isArray(tool_calls) ? tool_calls : [];

const MISTRAL_ID = /^[a-zA-Z0-9]{9}$/;
const shortId = (id: unknown): unknown =>
  MISTRAL_ID.test(String(id))
    ? id
    : createHash("sha256").update(String(id)).digest("hex").slice(0, 9);

/** Forms with the words with which servers demand them. */
const FORMS: readonly (Form & { readonly demand: RegExp })[] = [
  {
    // DeepSeek and Moonshot, whose calls may have been made by another model, without reasoning.
    name: "reasoning of calls",
    demand:
      /reasoning_content\W.{0,80}(?:missing|must be|required)|(?:missing|required)\W.{0,40}reasoning_content/is,
    adapt: editMessages((message) =>
      callsOf(message).length > 0 && !message.reasoning_content
        ? { ...message, reasoning_content: message.reasoning ?? " " }
        : message,
    ),
  },
  {
    name: "ids of nine characters",
    demand: /tool.?call.?id.{0,200}length of 9/is,
    adapt: editMessages((message) => ({
      ...message,
      ...(message.role === "tool" && { tool_call_id: shortId(message.tool_call_id) }),
      ...(message.tool_calls !== undefined && {
        tool_calls: callsOf(message).map((call) => ({ ...call, id: shortId(call.id) })),
      }),
    })),
  },
  {
    name: "an answer after results",
    demand: /role '?user'? after role '?tool/i,
    adapt: editMessages((message, index, all) =>
      message.role === "user" && all[index - 1]?.role === "tool"
        ? [{ role: "assistant", content: "Understood." }, message]
        : message,
    ),
  },
  {
    // Servers of models that read only text.
    name: "no images",
    demand:
      /unknown variant .?image_url|not support\w* .{0,40}(?:image|vision|multimodal)|images? (?:inputs?|contents?) (?:is|are) not|not a multimodal|content\W.{0,20}must be a string|expected a string/i,
    adapt: editMessages((message) =>
      Array.isArray(message.content)
        ? { ...message, content: withoutImages(message.content) }
        : message,
    ),
  },
];

const withoutImages = (parts: readonly Fields[]): string =>
  parts
    .map(({ type, text }) => (type === "text" ? text : "[A file that this model does not read]"))
    .join("\n");

/** Fields without which a server cannot answer as it is asked. */
const NEEDED = new Set([
  ...["model", "messages", "stream", "tools", "role", "content", "tool_calls", "tool_call_id"],
]);
/** Fields with a successor, which is sent in their place. */
const SUCCESSORS: Readonly<Record<string, string>> = { max_tokens: "max_completion_tokens" };
const REASONING = "reasoning_content";

function withoutField(field: string): (body: Body) => Body {
  const successor = SUCCESSORS[field];
  const without = ({ [field]: value, ...rest }: Fields): Fields => ({
    ...rest,
    ...(successor && value !== undefined && { [successor]: value }),
  });
  return (body) => editMessages(without)(without(body) as Body);
}

/** Returns the form that an error demands, if the request does not have it yet. */
function demandIn(text: string, body: Body): Form | undefined {
  const current = JSON.stringify(body);
  const demanded = FORMS.find(
    ({ demand, adapt }) => demand.test(text) && JSON.stringify(adapt(body)) !== current,
  );
  if (demanded) return demanded;
  const named = new Set(text.match(/[a-z][a-z0-9]*(?:_[a-z0-9]+)*/g));
  const fields = new Set([body, ...body.messages].flatMap(Object.keys));
  const refused = [...fields].filter((field) => named.has(field) && !NEEDED.has(field));
  // A field of several words is not there by chance.
  const [field] = refused.sort((one, other) => other.split("_").length - one.split("_").length);
  return field === undefined ? undefined : { name: `without ${field}`, adapt: withoutField(field) };
}

const MAX_REPETITIONS = 5;
const MAX_ERROR_CHARS = 20_000;
const MAX_MODELS = 1_000;

/** The fields that a server accepts, by model, as learned in this process. */
export class RefusedFields {
  readonly #forms = new Map<string, ReadonlyMap<string, Form>>();
  /** The name under which the server sends reasoning, and gets it back. */
  #reasoning = REASONING;

  /** Notes in which field the server sends reasoning. */
  noteReasoning(field: string): void {
    if (field === REASONING || field === "reasoning") this.#reasoning = field;
  }

  /** Returns a `fetch` that sends only accepted fields. */
  wrap(send: typeof fetch): typeof fetch {
    return async (input, init) => {
      const body = bodyOf(init?.body);
      if (!body) return send(input, init);
      const model = String(body.model);
      const learned: Form[] = [];
      let sent = this.#withReasoning(body);
      for (const { adapt } of this.#forms.get(model)?.values() ?? []) sent = adapt(sent);
      for (;;) {
        const response = await send(input, { ...init, body: JSON.stringify(sent) });
        if (response.ok) this.#learn(model, learned);
        if (![400, 422].includes(response.status)) return response;
        const { status, statusText, headers } = response;
        const text = await response.text();
        const isLast = learned.length === MAX_REPETITIONS || saysTooLong(text);
        const form = isLast ? undefined : demandIn(text.slice(0, MAX_ERROR_CHARS), sent);
        if (!form) return new Response(text, { status, statusText, headers });
        learned.push(form);
        sent = form.adapt(sent);
      }
    };
  }

  #withReasoning(body: Body): Body {
    const name = this.#reasoning;
    if (name === REASONING) return body;
    return editMessages((message) => {
      const { [REASONING]: reasoning, ...rest } = message;
      return reasoning === undefined ? message : { ...rest, [name]: reasoning };
    })(body);
  }

  /** The form of a request that succeeded is used for the next ones. */
  #learn(model: string, learned: readonly Form[]): void {
    if (learned.length === 0) return;
    if (this.#forms.size >= MAX_MODELS) this.#forms.clear();
    const known = this.#forms.get(model)?.values() ?? [];
    this.#forms.set(model, new Map([...known, ...learned].map((form) => [form.name, form])));
  }
}

function bodyOf(text: unknown): Body | undefined {
  if (typeof text !== "string") return undefined;
  const body: unknown = JSON.parse(text);
  return Array.isArray(Object(body).messages) ? (body as Body) : undefined;
}
