"use client";
import { MessageSquareText, RotateCcw, Terminal } from "lucide-react";
import Link from "next/link";
import { useSyncExternalStore } from "react";
import { buttonStyle } from "../_ui/button.tsx";
import { CopyButton } from "../_ui/copy-button.tsx";
import { SignIn } from "./sign-in.tsx";

const points = [
  {
    icon: MessageSquareText,
    title: "Send a message, get a stream",
    text: "Responses stream in the AI SDK format and work with useChat out of the box.",
  },
  {
    icon: Terminal,
    title: "Every agent has a sandbox",
    text: "It reads and writes files, runs commands, asks questions, and shows each step.",
  },
  {
    icon: RotateCcw,
    title: "Streams survive failures",
    text: "After a crash, a lost connection or in a second tab, the stream resumes where it left off.",
  },
] as const;

/** The landing page: what the product is and how to start, in the browser or from a terminal. */
export function Landing() {
  return (
    <div className="mx-auto grid w-full max-w-5xl gap-x-16 gap-y-9 px-4 py-10 sm:px-8 lg:grid-cols-[1fr_22rem] lg:py-20">
      <div className="min-w-0">
        <h1 className="text-3xl font-semibold tracking-tight text-balance">
          An agent with a sandbox, behind an HTTP API
        </h1>
        <p className="mt-3 max-w-xl text-lg text-muted-foreground">
          Built for the music industry: chats, background runs, templates, connectors, image and
          video generation, and a music catalog.
        </p>
      </div>
      <section
        aria-label="Sign in"
        className="min-w-0 self-start rounded-xl border bg-surface p-5 shadow-sm lg:row-span-3"
      >
        <h2 className="mb-4 text-lg font-semibold">Sign in</h2>
        <SignIn />
      </section>
      <ul className="flex min-w-0 max-w-xl flex-col gap-5">
        {points.map(({ icon: Icon, title, text }) => (
          <li key={title} className="flex gap-3">
            <span className="grid size-8 shrink-0 place-items-center rounded-lg bg-accent-soft text-accent-text">
              <Icon aria-hidden className="size-4" />
            </span>
            <div>
              <h2 className="font-semibold">{title}</h2>
              <p className="text-muted-foreground">{text}</p>
            </div>
          </li>
        ))}
      </ul>
      <section aria-label="From a terminal" className="min-w-0 max-w-xl">
        <h2 className="font-semibold">From a terminal</h2>
        <p className="mt-1 text-muted-foreground">
          You receive a code by email. Exchange it for an API key at{" "}
          <code className="font-mono text-sm">/api/agents/verify</code>.
        </p>
        <SignUpLine />
        <Link href="/docs" className={buttonStyle({ variant: "outline", className: "mt-4" })}>
          Read the documentation
        </Link>
      </section>
    </div>
  );
}

function SignUpLine() {
  const origin = useSyncExternalStore(
    () => () => {},
    () => location.origin,
    () => "",
  );
  const line = `curl ${origin}/api/agents/signup -d '{"email":"you@example.com"}'`;
  return (
    <div className="mt-2 flex items-start gap-2">
      <code className="min-h-9 min-w-0 flex-1 rounded-md border bg-muted px-3 py-2 font-mono text-sm break-words">
        {line}
      </code>
      <CopyButton text={line} label="Copy command" />
    </div>
  );
}
