"use client";
import { useRouter } from "next/navigation";
import { useEffect, useSyncExternalStore } from "react";
import { useSession } from "../_session/auth.ts";
import { ButtonLink } from "../_ui/button.tsx";
import { CopyableText } from "../_ui/copy-button.tsx";
import { Cover } from "../_ui/cover.tsx";
import {
  BadgeDollarSign,
  CalendarClock,
  Check,
  Clapperboard,
  FileSpreadsheet,
  ListMusic,
  Newspaper,
  Route,
} from "../_ui/icons.tsx";
import { useFrame } from "./frame.tsx";
import { SignIn } from "./sign-in.tsx";

/** The landing page. Signed-in users are redirected to the chat. */
export function Start() {
  const { status } = useSession();
  const { wasSignedIn } = useFrame();
  const router = useRouter();
  useEffect(() => {
    if (status !== "signed-in") return;
    // React leaves the title in the document when the page is left before it was hydrated. It would be read
    // aloud as the name of the pages that follow. In a fragment, React can still remove it by itself.
    const title = document.head.querySelector("title");
    if (title) new DocumentFragment().append(title);
    router.replace("/chat");
  }, [status, router]);
  const leaving = status === "signed-in" || (status === "loading" && wasSignedIn);
  return leaving ? <p className="sr-only">Loading…</p> : <Landing />;
}

const jobs = {
  "Release plans": [
    CalendarClock,
    "From the master's delivery to the day after release, with dates that fit together.",
  ],
  "Royalty statements": [
    BadgeDollarSign,
    "Finds what is missing, counted twice or paid at the wrong rate, and shows the rows.",
  ],
  "Playlist pitches": [
    ListMusic,
    "One pitch for each curator, from the track, its audience and what the list plays.",
  ],
  "Tour budgets": [
    Route,
    "Fees, travel, crew and break-even for each show, as a table you can send.",
  ],
  "Press texts": [Newspaper, "Biographies, one-sheets and announcements in the artist's own tone."],
  "Covers and clips": [
    Clapperboard,
    "Images, lyric videos and canvas loops for each platform's format.",
  ],
} as const;

const facts = {
  "It does the work, in the open":
    "Each agent has a computer of its own: it reads your files, runs code, and shows each step and result.",
  "It works while you do not":
    "Schedule a Monday report, or close the tab: answers go on, and you are told when they are ready.",
  "It is yours to build on":
    "Everything here is an HTTP API with streaming, an MCP server and webhooks.",
};

const Landing = () => (
  <div className="mx-auto w-full max-w-6xl px-4 py-10 sm:px-8 lg:py-16">
    <div className="grid gap-x-16 gap-y-9 lg:grid-cols-[minmax(0,1fr)_22rem]">
      <div className="min-w-0">
        <h1 className="max-w-2xl text-3xl font-semibold text-balance sm:text-4xl">
          The agent that knows the music business
        </h1>
        <p className="mt-4 max-w-xl text-lg text-pretty text-muted-foreground">
          For labels, managers and artists: hand over the release plan, the royalty statement or the
          tour budget, and get the finished file back.
        </p>
      </div>
      <section
        aria-label="Sign in"
        className="min-w-0 self-start rounded-xl border bg-surface p-5 shadow-sm lg:row-span-2 lg:mt-2"
      >
        <h2 className="mb-4 text-lg font-semibold">Sign in</h2>
        <SignIn />
      </section>
      <LandingExample />
    </div>
    <section aria-labelledby="jobs" className="mt-16">
      <h2 id="jobs" className="text-2xl font-semibold">
        What people hand over
      </h2>
      <ul className="mt-5 grid gap-3 sm:grid-cols-2 lg:grid-cols-3">
        {Object.entries(jobs).map(([title, [Icon, text]]) => (
          <li key={title} className="rounded-xl border bg-surface p-5 shadow-xs">
            <Icon aria-hidden className="size-5 text-accent-text" />
            <h3 className="mt-3 font-semibold">{title}</h3>
            <p className="mt-1 text-pretty text-muted-foreground">{text}</p>
          </li>
        ))}
      </ul>
    </section>
    <section aria-label="How it works" className="mt-16 grid gap-8 border-t pt-10 sm:grid-cols-3">
      {Object.entries(facts).map(([title, text]) => (
        <div key={title}>
          <h2 className="font-semibold">{title}</h2>
          <p className="mt-1 text-pretty text-muted-foreground">{text}</p>
        </div>
      ))}
    </section>
    <section aria-label="From a terminal" className="mt-16 rounded-xl border bg-muted/35 p-6">
      <h2 className="text-lg font-semibold">Prefer a terminal?</h2>
      <p className="mt-1 max-w-2xl text-muted-foreground">
        You receive a code by email. Exchange it for an API key at{" "}
        <code className="font-mono text-sm">/api/agents/verify</code>.
      </p>
      <div className="max-w-3xl pt-1.5">
        <SignUpLine />
      </div>
      <ButtonLink href="/docs" variant="outline" className="mt-4">
        Read the documentation
      </ButtonLink>
    </section>
  </div>
);

function SignUpLine() {
  const origin = useSyncExternalStore(
    () => () => {},
    () => location.origin,
    () => "",
  );
  const line = `curl ${origin}/api/agents/signup -d '{"email":"you@example.com"}'`;
  return <CopyableText label="command" text={line} />;
}

const steps = [
  "Read statement-q3.csv, 1,842 rows",
  "Compared the rates with the contract",
] as const;

const findings = [
  { track: "Low Tide Letters", problem: "Paid at 12 % instead of 15 %", amount: "€1,204.60" },
  { track: "Harbor Lights", problem: "No streams listed for August", amount: "€386.10" },
  { track: "Paper Moon (Live)", problem: "Counted under another label", amount: "€92.45" },
] as const;

/** An illustration of a chat in text: the request, the work, and the result. */
const LandingExample = () => (
  <figure
    aria-label="An example: a royalty statement is checked"
    className="min-w-0 max-w-2xl overflow-hidden rounded-2xl border bg-surface shadow-lg"
  >
    <div className="flex flex-col gap-4 p-4 sm:p-6">
      <div className="ml-auto max-w-md rounded-2xl rounded-br-md bg-muted px-4 py-2.5">
        <p>Check the Q3 statement against our contract. What do they owe us?</p>
        <p className="mt-2 inline-flex items-center gap-1.5 rounded-md border bg-surface px-2 py-1 text-sm">
          <FileSpreadsheet aria-hidden className="size-4 text-success-text" />
          statement-q3.csv
        </p>
      </div>
      <ul className="flex flex-col gap-1 text-sm text-muted-foreground">
        {steps.map((step) => (
          <li key={step} className="flex items-center gap-2">
            <Check aria-hidden className="size-3.5 shrink-0 text-success-text" />
            {step}
          </li>
        ))}
      </ul>
      <p>
        Three tracks were paid too little, <strong>€1,683.15</strong> in all:
      </p>
      <ul className="text-sm">
        {findings.map(({ track, problem, amount }) => (
          <li key={track} className="flex items-center gap-2.5 border-t py-2">
            <Cover seed={track} className="size-8" />
            <span className="flex-1 font-medium">{track}</span>
            <span className="flex-1 text-muted-foreground max-sm:hidden">{problem}</span>
            <span className="tabular-nums">{amount}</span>
          </li>
        ))}
      </ul>
    </div>
  </figure>
);
