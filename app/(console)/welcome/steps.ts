import type { FirstSteps } from "@/lib/accounts/account.ts";

export interface Step {
  readonly name: keyof FirstSteps;
  readonly title: string;
  readonly text: string;
  readonly action: string;
  readonly href: string;
}

/** The steps of a new account. Each link opens the form that the step needs. */
export const steps: readonly Step[] = [
  {
    name: "file_sent",
    title: "Have a file analyzed",
    text: "Attach a royalty statement or a guest list to a chat. A sample statement is there to try.",
    action: "Try the sample",
    href: "/chat?sample",
  },
  {
    name: "artist_added",
    title: "Add an artist",
    text: "What you do for an artist comes together on one page.",
    action: "Add an artist",
    href: "/artists?new",
  },
  {
    name: "prompt_scheduled",
    title: "Set a schedule",
    text: "A weekly streaming report can be in your chats before Monday's meeting.",
    action: "Set a schedule",
    href: "/schedules?new",
  },
  {
    name: "video_made",
    title: "Make a video",
    text: "Describe a clip for the release, or turn a cover into one.",
    action: "Make a video",
    href: "/content?kind=video",
  },
  {
    name: "key_used",
    title: "Use an API key",
    text: "Run the same agent from a terminal, a script or another tool.",
    action: "Create a key",
    href: "/keys?new",
  },
];
