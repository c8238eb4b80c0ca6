import {
  CalendarRange,
  ChartNoAxesCombined,
  ListMusic,
  type LucideIcon,
  Megaphone,
  Receipt,
} from "lucide-react";

export interface Suggestion {
  /** The label of the chip. */
  readonly title: string;
  /** The beginning of a message, which is put into the box to be completed. */
  readonly prompt: string;
  readonly icon: LucideIcon;
}

/** What a new chat offers to begin with. */
export const suggestions: readonly Suggestion[] = [
  {
    title: "Plan a release",
    icon: CalendarRange,
    prompt:
      "Make a release plan for a single that comes out in eight weeks. List the tasks by week with owners: masters, artwork, metadata, pre-save, press, playlist pitch and socials. Write it to release-plan.md.",
  },
  {
    title: "Check royalties",
    icon: Receipt,
    prompt:
      "Check the attached royalty statement. Sum it by track and territory, and list what looks wrong: rates, duplicates and gaps.",
  },
  {
    title: "Pitch to playlists",
    icon: ListMusic,
    prompt:
      "Write a playlist pitch of at most 500 characters for a new track. Ask me for the genre, mood, instruments and story first.",
  },
  {
    title: "Budget a tour",
    icon: ChartNoAxesCombined,
    prompt:
      "Make a budget for a tour of six club shows with four people on the road: fees, travel, hotels, crew, per diems and merch. Write it to tour-budget.csv and tell me where it breaks even.",
  },
  {
    title: "Write press text",
    icon: Megaphone,
    prompt:
      "Write the press text for a new release: a headline, 150 words about the artist and the music, one quote, and the dates.",
  },
];
