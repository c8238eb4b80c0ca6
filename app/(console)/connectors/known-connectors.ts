/** The services that the page suggests. Any other is connected by its short name. */
import { BriefcaseBusiness, Hash, Inbox, Plug } from "lucide-react";
import airtable from "./_logos/airtable.svg";
import discord from "./_logos/discord.svg";
import dropbox from "./_logos/dropbox.svg";
import github from "./_logos/github.svg";
import gmail from "./_logos/gmail.svg";
import googlecalendar from "./_logos/googlecalendar.svg";
import googledocs from "./_logos/googledocs.svg";
import googledrive from "./_logos/googledrive.svg";
import googlesheets from "./_logos/googlesheets.svg";
import hubspot from "./_logos/hubspot.svg";
import instagram from "./_logos/instagram.svg";
import mailchimp from "./_logos/mailchimp.svg";
import notion from "./_logos/notion.svg";
import soundcloud from "./_logos/soundcloud.svg";
import tiktok from "./_logos/tiktok.svg";
import x from "./_logos/x.svg";
import youtube from "./_logos/youtube.svg";
import { type ConnectorIcon, logo } from "./logo.tsx";

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
