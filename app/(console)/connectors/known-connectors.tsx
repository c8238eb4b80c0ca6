import { BriefcaseBusiness, Hash, Inbox, Plug } from "lucide-react";
import type { ComponentType } from "react";
import airtable from "simple-icons/icons/airtable.svg";
import discord from "simple-icons/icons/discord.svg";
import dropbox from "simple-icons/icons/dropbox.svg";
import github from "simple-icons/icons/github.svg";
import gmail from "simple-icons/icons/gmail.svg";
import googlecalendar from "simple-icons/icons/googlecalendar.svg";
import googledocs from "simple-icons/icons/googledocs.svg";
import googledrive from "simple-icons/icons/googledrive.svg";
import googlesheets from "simple-icons/icons/googlesheets.svg";
import hubspot from "simple-icons/icons/hubspot.svg";
import instagram from "simple-icons/icons/instagram.svg";
import mailchimp from "simple-icons/icons/mailchimp.svg";
import notion from "simple-icons/icons/notion.svg";
import soundcloud from "simple-icons/icons/soundcloud.svg";
import tiktok from "simple-icons/icons/tiktok.svg";
import x from "simple-icons/icons/x.svg";
import youtube from "simple-icons/icons/youtube.svg";

/** The services that the page suggests. Any other is connected by its short name. */

export interface KnownConnector {
  readonly slug: string;
  readonly name: string;
  /** What an agent can do with it, in the words of the trade. */
  readonly text: string;
  /** The service's logo, or a drawing where the collection has none. */
  readonly icon: ConnectorIcon;
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
        icon: logo(youtube, "#FF0000"),
        text: "Read channel figures, upload videos and answer comments.",
      },
      {
        slug: "instagram",
        name: "Instagram",
        icon: logo(instagram, "#FF0069"),
        text: "Publish posts and read how they did.",
      },
      {
        slug: "tiktok",
        name: "TikTok",
        icon: logo(tiktok),
        text: "Publish clips and read their figures.",
      },
      {
        slug: "soundcloud",
        name: "SoundCloud",
        icon: logo(soundcloud, "#FF5500"),
        text: "Manage tracks and playlists.",
      },
      { slug: "twitter", name: "X", icon: logo(x), text: "Post news and read replies." },
      {
        slug: "mailchimp",
        name: "Mailchimp",
        icon: logo(mailchimp),
        text: "Draft and send fan newsletters.",
      },
    ],
  },
  {
    title: "Mail and team",
    connectors: [
      {
        slug: "gmail",
        name: "Gmail",
        icon: logo(gmail, "#EA4335"),
        text: "Find promoters’ mails, draft answers and send them.",
      },
      { slug: "outlook", name: "Outlook", icon: Inbox, text: "Read and write mail." },
      { slug: "slack", name: "Slack", icon: Hash, text: "Report to a channel and read it." },
      {
        slug: "discord",
        name: "Discord",
        icon: logo(discord, "#5865F2"),
        text: "Write to the fan community.",
      },
      {
        slug: "googlecalendar",
        name: "Google Calendar",
        icon: logo(googlecalendar, "#4285F4"),
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
        icon: logo(hubspot, "#FF7A59"),
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
        icon: logo(googledrive, "#4285F4"),
        text: "Find contracts, artwork and masters.",
      },
      {
        slug: "dropbox",
        name: "Dropbox",
        icon: logo(dropbox, "#0061FF"),
        text: "Read and store files.",
      },
      {
        slug: "googlesheets",
        name: "Google Sheets",
        icon: logo(googlesheets, "#34A853"),
        text: "Read royalty statements and write budgets.",
      },
      {
        slug: "googledocs",
        name: "Google Docs",
        icon: logo(googledocs, "#4285F4"),
        text: "Write press texts.",
      },
      { slug: "notion", name: "Notion", icon: logo(notion), text: "Keep release plans." },
      {
        slug: "airtable",
        name: "Airtable",
        icon: logo(airtable, "#18BFFF"),
        text: "Read and write tables.",
      },
      {
        slug: "github",
        name: "GitHub",
        icon: logo(github),
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

type ConnectorIcon = ComponentType<{ readonly className?: string }>;

/**
 * Returns a component that draws a logo, as a decoration beside the name.
 *
 * @param svg a file of the package `simple-icons`: one path in a square of 24
 * @param color of the brand. Default: the text's, for brands whose own is black or too pale on one of the grounds
 */
function logo(svg: string, color = "currentColor"): ConnectorIcon {
  const path = / d="([^"]+)"/.exec(svg)?.[1];
  return ({ className }) => (
    <svg aria-hidden className={className} viewBox="0 0 24 24" fill={color}>
      <path d={path} />
    </svg>
  );
}
