import type { z } from "zod";
import { useRemembered } from "@/app/(console)/_shell/onboarding-choice.ts";
import type { listArtistsContract } from "@/lib/artists/contract.ts";
import type { listKeysContract } from "@/lib/identity/keys/contract.ts";
import type { listTasksContract } from "@/lib/schedules/contract.ts";
import type { listAccountChatsContract } from "@/lib/sessions/chats-contract.ts";
import type { listTaskRunsContract } from "@/lib/tasks/contract.ts";
import { useQuery } from "../_hooks/use-query.ts";

export interface Step {
  readonly title: string;
  readonly text: string;
  readonly action: string;
  readonly href: string;
  /** Undefined until the server has answered. */
  readonly isDone: boolean | undefined;
  /** What the browser remembers when the step's link is followed, because the server cannot tell. */
  readonly remembers?: "upload";
}

type Body<C extends { responses: { 200: { schema: z.ZodType } } }> = z.output<
  C["responses"][200]["schema"]
>;

/** The steps of a new account, with what the server knows of each. */
export function useOnboarding(email: string): readonly Step[] {
  const chats = useQuery<Body<typeof listAccountChatsContract>>("/api/chats?limit=20").data?.chats;
  const artists = useQuery<Body<typeof listArtistsContract>>("/api/artists?limit=1").data?.artists;
  const tasks = useQuery<Body<typeof listTasksContract>>("/api/tasks?limit=1").data?.tasks;
  const runs = useQuery<Body<typeof listTaskRunsContract>>("/api/tasks/runs?limit=100").data?.runs;
  const keys = useQuery<Body<typeof listKeysContract>>("/api/keys").data?.keys;
  const hasUploaded = useRemembered(email, "upload");
  return [
    {
      title: "Send a first message",
      text: "Ask for a release plan, a playlist pitch or a tour budget. The agent shows each step.",
      action: "Open chat",
      href: "/chat",
      isDone: chats?.some(({ lastAssistantMessageAt }) => lastAssistantMessageAt !== null),
    },
    {
      title: "Have a file analyzed",
      text: "Add a royalty statement or a guest list to a chat and ask what stands out.",
      action: "Add a file",
      href: "/chat",
      isDone: hasUploaded,
      remembers: "upload",
    },
    {
      title: "Choose an artist",
      text: "Chats, runs and media of an artist are kept together.",
      action: "Add an artist",
      href: "/artists",
      isDone: artists && artists.length > 0,
    },
    {
      title: "Schedule a prompt",
      text: "A weekly streaming report can be in your chats before Monday's meeting.",
      action: "Set a schedule",
      href: "/schedules",
      isDone: tasks && tasks.length > 0,
    },
    {
      title: "Make a video",
      text: "Turn a cover or a line of lyrics into a clip for the release.",
      action: "Make a video",
      href: "/content",
      isDone: runs?.some((run) => run.taskIdentifier === "generate-video"),
    },
    {
      title: "Create an API key",
      text: "Use the same agent from your own scripts and tools.",
      action: "Create a key",
      href: "/keys",
      isDone: keys && keys.length > 0,
    },
  ];
}
