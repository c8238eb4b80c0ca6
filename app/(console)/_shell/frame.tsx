"use client";
import { createContext, type ReactNode, useContext } from "react";
import type { Theme } from "@/app/(console)/_shell/theme.ts";

/** What the server knew when it rendered the page. */
export interface Frame {
  readonly theme: Theme;
  /** Whether this browser was signed in before; decides the layout until the session is loaded. */
  readonly wasSignedIn: boolean;
  /** True in development, where one click signs in as the seeded account. */
  readonly developerSignIn: boolean;
  /** True in development while no mail is sent: `/dev/mail` shows what would be. */
  readonly developerMail: boolean;
  /** False while the embedded rules answer in chats instead of an AI. */
  readonly hasAiModel: boolean;
  /** The other origin that may serve generated media; null if there is none. */
  readonly mediaOrigin: string | null;
}

const FrameContext = createContext<Frame>({
  theme: "system",
  wasSignedIn: false,
  developerSignIn: false,
  developerMail: false,
  hasAiModel: true,
  mediaOrigin: null,
});

export function FrameProvider({
  frame,
  children,
}: {
  readonly frame: Frame;
  readonly children: ReactNode;
}) {
  return <FrameContext value={frame}>{children}</FrameContext>;
}

export const useFrame = (): Frame => useContext(FrameContext);
