/** The services that the page suggests. Any other is connected by its short name. */
import {
  AtSign,
  AudioWaveform,
  BriefcaseBusiness,
  CalendarDays,
  Camera,
  CirclePlay,
  FileText,
  FolderOpen,
  Grid3x3,
  Hash,
  Inbox,
  type LucideIcon,
  Mail,
  MessagesSquare,
  Music2,
  NotebookText,
  Package,
  Plug,
  Send,
  Sheet,
  SquareTerminal,
  UsersRound,
} from "lucide-react";

export interface KnownConnector {
  readonly slug: string;
  readonly name: string;
  /** What an agent can do with it, in the words of the trade. */
  readonly text: string;
  /** A sign of what it is for. The logos of the services are their owners' trademarks. */
  readonly icon: LucideIcon;
}

export const groups: readonly {
  readonly title: string;
  readonly connectors: readonly KnownConnector[];
}[] = [
  {
    title: "Audience and video",
    connectors: [
      {
        slug: "youtube",
        name: "YouTube",
        icon: CirclePlay,
        text: "Read channel figures, upload videos and answer comments.",
      },
      {
        slug: "instagram",
        name: "Instagram",
        icon: Camera,
        text: "Publish posts and read how they did.",
      },
      {
        slug: "tiktok",
        name: "TikTok",
        icon: Music2,
        text: "Publish clips and read their figures.",
      },
      {
        slug: "soundcloud",
        name: "SoundCloud",
        icon: AudioWaveform,
        text: "Manage tracks and playlists.",
      },
      { slug: "twitter", name: "X", icon: AtSign, text: "Post news and read replies." },
      { slug: "mailchimp", name: "Mailchimp", icon: Send, text: "Draft and send fan newsletters." },
    ],
  },
  {
    title: "Mail and team",
    connectors: [
      {
        slug: "gmail",
        name: "Gmail",
        icon: Mail,
        text: "Find promoters’ mails, draft answers and send them.",
      },
      { slug: "outlook", name: "Outlook", icon: Inbox, text: "Read and write mail." },
      { slug: "slack", name: "Slack", icon: Hash, text: "Report to a channel and read it." },
      {
        slug: "discord",
        name: "Discord",
        icon: MessagesSquare,
        text: "Write to the fan community.",
      },
      {
        slug: "googlecalendar",
        name: "Google Calendar",
        icon: CalendarDays,
        text: "Plan release dates, sessions and shows.",
      },
      {
        slug: "linkedin",
        name: "LinkedIn",
        icon: BriefcaseBusiness,
        text: "Publish company news.",
      },
      {
        slug: "hubspot",
        name: "HubSpot",
        icon: UsersRound,
        text: "Keep contacts of venues, press and partners.",
      },
    ],
  },
  {
    title: "Files and tables",
    connectors: [
      {
        slug: "googledrive",
        name: "Google Drive",
        icon: FolderOpen,
        text: "Find contracts, artwork and masters.",
      },
      { slug: "dropbox", name: "Dropbox", icon: Package, text: "Read and store files." },
      {
        slug: "googlesheets",
        name: "Google Sheets",
        icon: Sheet,
        text: "Read royalty statements and write budgets.",
      },
      { slug: "googledocs", name: "Google Docs", icon: FileText, text: "Write press texts." },
      { slug: "notion", name: "Notion", icon: NotebookText, text: "Keep release plans." },
      { slug: "airtable", name: "Airtable", icon: Grid3x3, text: "Read and write tables." },
      {
        slug: "github",
        name: "GitHub",
        icon: SquareTerminal,
        text: "Read and change repositories.",
      },
    ],
  },
];

const known = new Map(
  groups.flatMap(({ connectors }) => connectors).map((connector) => [connector.slug, connector]),
);

/** Returns what is known of a service; of others, their short name. */
export const connectorOf = (slug: string): KnownConnector =>
  known.get(slug) ?? { slug, name: slug, icon: Plug, text: "" };
