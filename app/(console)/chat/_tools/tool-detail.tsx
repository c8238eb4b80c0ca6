import type { ReactNode } from "react";
import { languageOfPath } from "../../_code/languages.ts";
import { cn } from "../../_ui/class-names.ts";
import { keyed } from "../../_ui/keyed.ts";
import { ScrollBox } from "../../_ui/scroll-box.tsx";
import { Code } from "../_message/code-block.tsx";
import { Markdown } from "../_message/markdown.tsx";
import { listAt, numberAt, type ToolCall, textAt, valueAt } from "../_state/tool-call.ts";
import { FileLink } from "./file-link.tsx";
import { TodoList } from "./todo-list.tsx";
import { toolIcon } from "./tool-icon.ts";

const box = "min-w-0 overflow-hidden rounded-lg border bg-surface";
const height = "max-h-80";

/** The input and output of a tool call, as a terminal, a file, a list or JSON. */
export const ToolDetail = ({ call }: { readonly call: ToolCall }) => (
  <div className="flex flex-col gap-2">
    <Detail call={call} />
    {call.error !== null && (
      <p
        className={cn(
          "rounded-md px-3 py-2 text-sm break-words",
          call.state === "stopped" ? "bg-muted" : "bg-danger-soft text-danger-text",
        )}
      >
        {call.error}
      </p>
    )}
  </div>
);

function Detail({ call }: { readonly call: ToolCall }) {
  const { name, input, output, error } = call;
  switch (name) {
    case "bash":
      return <TerminalBlock call={call} />;
    case "read":
    case "write": {
      if (name === "read" && error !== null) return null;
      const text = textAt(name === "read" ? output : input, "content");
      const from = numberAt(output, "startLine") ?? 1;
      return <FileBlock path={textAt(input, "filePath")} text={text} from={from} />;
    }
    case "edit": {
      const from = numberAt(output, "startLine") ?? 1;
      const text = textAt(input, "newString");
      return <FileBlock path={textAt(input, "filePath")} text={text} from={from} />;
    }
    case "grep":
      return <Matches output={output} />;
    case "glob":
      return <Files output={output} folder={textAt(input, "path")} />;
    case "fetch":
      return <FetchedResponse output={output} />;
    case "task":
      return <Subagent call={call} />;
    case "skill": {
      const instructions = textAt(output, "instructions");
      if (instructions === null) return <Values call={call} />;
      return (
        <div className={`${box} ${height} overflow-y-auto p-3 text-sm`}>
          <Markdown text={instructions} />
        </div>
      );
    }
    case "todo":
      return <TodoList input={input} />;
    default:
      return <Values call={call} />;
  }
}

function TerminalBlock({ call: { input, output, state } }: { readonly call: ToolCall }) {
  const stdout = textAt(output, "stdout") ?? "";
  const stderr = textAt(output, "stderr") ?? "";
  const exitCode = numberAt(output, "exitCode");
  const cwd = textAt(input, "cwd");
  return (
    <div className="min-w-0 overflow-hidden rounded-lg border border-[#2a2a31] bg-[#131317] text-[#e6e6ea]">
      <ScrollBox label="Terminal" isLandmark={false} className={`rounded-none ${height}`}>
        <pre className="w-fit min-w-full px-3 py-2.5 font-mono text-xs leading-relaxed whitespace-pre">
          <span className="text-[#b8a4ff]">{cwd === null ? "$ " : `${cwd} $ `}</span>
          {textAt(input, "command") ?? ""}
          {"\n"}
          {stdout}
          {stderr !== "" && <span className="text-[#ff8f85]">{stderr}</span>}
          {state === "running" && <span className="text-[#a3a3af]">Running…</span>}
          {state === "done" && stdout === "" && stderr === "" && (
            <span className="text-[#a3a3af]">No output</span>
          )}
        </pre>
      </ScrollBox>
      {exitCode !== null && (
        <p className="border-t border-[#2a2a31] px-3 py-1 text-xs text-[#a3a3af]">
          Exit code {exitCode}
          {valueAt(output, "truncated") === true && " · output truncated"}
        </p>
      )}
    </div>
  );
}

type FileBlockProps = Readonly<{ path: string | null; text: string | null; from: number }>;

const FileBlock = ({ path, text, from }: FileBlockProps) => (
  <div className={box}>
    <div className="flex h-8 items-center border-b bg-muted/60 px-3 text-xs">
      {path !== null && <FileLink path={path} />}
      {from > 1 && <span className="ml-2 text-muted-foreground">from line {from}</span>}
    </div>
    {text === "" ? (
      <p className="px-3 py-2 text-sm text-muted-foreground">This file is empty.</p>
    ) : (
      <Code
        text={text ?? ""}
        language={languageOfPath(path ?? "")}
        label={`Content of ${path ?? "the file"}`}
        className={height}
      />
    )}
  </div>
);

function Matches({ output }: { readonly output: unknown }) {
  const matches = listAt(output, "matches");
  if (matches.length === 0) return <Note>No matches</Note>;
  return (
    <List label="Matches">
      {keyed(matches).map(({ key, item: match }) => {
        const file = textAt(match, "file") ?? "";
        const line = numberAt(match, "line");
        return (
          <li key={key} className="flex gap-3 px-3 py-1">
            <span className="flex shrink-0 text-xs">
              <FileLink path={file} />
              <span className="text-muted-foreground">:{line}</span>
            </span>
            <code className="font-mono text-xs whitespace-pre">{textAt(match, "text")}</code>
          </li>
        );
      })}
    </List>
  );
}

function Files({ output, folder }: { readonly output: unknown; readonly folder: string | null }) {
  const files = listAt(output, "files").filter((file) => typeof file === "string");
  if (files.length === 0) return <Note>No matching files</Note>;
  return (
    <List label="Files">
      {files.map((file) => (
        <li key={file} className="px-3 py-1 text-xs">
          <FileLink path={folder === null || file.startsWith("/") ? file : `${folder}/${file}`} />
        </li>
      ))}
    </List>
  );
}

function FetchedResponse({ output }: { readonly output: unknown }) {
  const body = textAt(output, "body");
  if (body === null) return null;
  const note = textAt(output, "note");
  return (
    <div className={box}>
      <p className="border-b bg-muted/60 px-3 py-1.5 font-mono text-xs break-all">
        {numberAt(output, "status")} {textAt(output, "url")}
      </p>
      {note !== null && <p className="px-3 py-2 text-sm text-muted-foreground">{note}</p>}
      {body !== "" && <Code text={body} label="Response body" className={height} />}
    </div>
  );
}

/** Its steps are shown while it works; the timeline of the run has them afterwards, too. */
function Subagent({ call }: { readonly call: ToolCall }) {
  const { input, output, state } = call;
  const isRunning = state === "running";
  const result = textAt(output, isRunning ? "text" : "result");
  const steps = keyed(listAt(output, "steps"));
  const command = { command: textAt(steps.at(-1)?.item, "summary") };
  const live = isRunning ? valueAt(output, "output") : undefined;
  return (
    <div className={`${box} text-sm`}>
      <div className="border-b bg-muted/60 px-3 py-2">
        <p className="text-xs font-medium text-muted-foreground">Instructions</p>
        <p className="mt-1 whitespace-pre-wrap [overflow-wrap:anywhere]">
          {textAt(input, "instructions")}
        </p>
      </div>
      {steps.length > 0 && (
        <ol aria-label="Steps of the subagent" className="border-b px-3 py-2">
          {steps.map(({ key, item: step }) => {
            const tool = textAt(step, "tool") ?? "";
            const Icon = toolIcon(tool);
            return (
              <li key={key} className="flex h-6 min-w-0 items-center gap-2 text-muted-foreground">
                <Icon role="img" aria-label={tool} className="size-3.5 shrink-0" />
                <code className="min-w-0 truncate font-mono text-xs">
                  {textAt(step, "summary")}
                </code>
              </li>
            );
          })}
        </ol>
      )}
      {live !== undefined && <TerminalBlock call={{ ...call, input: command, output: live }} />}
      <ScrollBox
        label="Result of the subagent"
        isLandmark={false}
        className={`rounded-none ${height} px-3 py-2`}
      >
        <p className="text-xs font-medium text-muted-foreground">Result</p>
        <div className="mt-1">
          {result ? (
            <Markdown text={result} />
          ) : (
            <p className="text-muted-foreground">{isRunning ? "Running…" : "No result"}</p>
          )}
        </div>
      </ScrollBox>
    </div>
  );
}

function Values({ call: { input, output } }: { readonly call: ToolCall }) {
  const json = { language: "json", className: height };
  return (
    <div className={`${box} divide-y`}>
      <Code {...json} label="Input" text={JSON.stringify(input, null, 2) ?? ""} />
      {output !== undefined && (
        <Code {...json} label="Output" text={JSON.stringify(output, null, 2)} />
      )}
    </div>
  );
}

const List = ({ label, children }: { readonly label: string; readonly children: ReactNode }) => (
  <ScrollBox label={label} isLandmark={false} className={`${box} ${height} overflow-auto py-1`}>
    <ul className="w-fit min-w-full">{children}</ul>
  </ScrollBox>
);

const Note = ({ children }: { readonly children: ReactNode }) => (
  <p className="text-sm text-muted-foreground">{children}</p>
);
