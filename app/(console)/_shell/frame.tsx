"use client";
import { createContext, type ReactNode, useContext } from "react";
import type { Theme } from "@/app/(console)/_hooks/theme.ts";

/** What the server knew when it drew the page. */
export interface Frame {
  readonly theme: Theme;
  /** Whether this browser was signed in the last time: which frame to draw until it is known. */
  readonly wasSignedIn: boolean;
  /** One click signs in as the seeded account; only in development. */
  readonly developerSignIn: boolean;
  /** From where else than this origin generated media may be shown; null when from nowhere. */
  readonly mediaOrigin: string | null;
}

const FrameContext = createContext<Frame>({
  theme: "system",
  wasSignedIn: false,
  developerSignIn: false,
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
