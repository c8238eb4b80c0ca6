import type { ComponentType } from "react";
import { BriefcaseBusiness, Hash, Inbox, Plug } from "../_ui/icons.tsx";
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

/** The services that the page suggests. Any other is connected by its short name. */

/** The name, the logo (or a drawing where the collection has none), and the use for an agent, in the words of the trade. */
type Entry = readonly [name: string, icon: ConnectorIcon, text: string];

const services: Readonly<Record<string, Readonly<Record<string, Entry>>>> = {
  "Audience and video": {
    youtube: [
      "YouTube",
      logo(youtube, "#FF0000"),
      "Read channel figures, upload videos and answer comments.",
    ],
    instagram: ["Instagram", logo(instagram, "#FF0069"), "Publish posts and read how they did."],
    tiktok: ["TikTok", logo(tiktok), "Publish clips and read their figures."],
    soundcloud: ["SoundCloud", logo(soundcloud, "#FF5500"), "Manage tracks and playlists."],
    twitter: ["X", logo(x), "Post news and read replies."],
    mailchimp: ["Mailchimp", logo(mailchimp), "Draft and send fan newsletters."],
  },
  "Mail and team": {
    gmail: ["Gmail", logo(gmail, "#EA4335"), "Find promoters’ mails, draft answers and send them."],
    outlook: ["Outlook", Inbox, "Read and write mail."],
    slack: ["Slack", Hash, "Report to a channel and read it."],
    discord: ["Discord", logo(discord, "#5865F2"), "Write to the fan community."],
    googlecalendar: [
      "Google Calendar",
      logo(googlecalendar, "#4285F4"),
      "Plan release dates, sessions and shows.",
    ],
    linkedin: ["LinkedIn", BriefcaseBusiness, "Publish company news."],
    hubspot: ["HubSpot", logo(hubspot, "#FF7A59"), "Keep contacts of venues, press and partners."],
  },
  "Files and tables": {
    googledrive: [
      "Google Drive",
      logo(googledrive, "#4285F4"),
      "Find contracts, artwork and masters.",
    ],
    dropbox: ["Dropbox", logo(dropbox, "#0061FF"), "Read and store files."],
    googlesheets: [
      "Google Sheets",
      logo(googlesheets, "#34A853"),
      "Read royalty statements and write budgets.",
    ],
    googledocs: ["Google Docs", logo(googledocs, "#4285F4"), "Write press texts."],
    notion: ["Notion", logo(notion), "Keep release plans."],
    airtable: ["Airtable", logo(airtable, "#18BFFF"), "Read and write tables."],
    github: ["GitHub", logo(github), "Read and change repositories."],
  },
};

const connector = ([slug, [name, icon, text]]: [string, Entry]) => ({ slug, name, icon, text });

export type KnownConnector = ReturnType<typeof connector>;

export const groups = Object.entries(services).map(([title, entries]) => ({
  ...{ title, connectors: Object.entries(entries).map(connector) },
}));

const known = new Map(groups.flatMap(({ connectors }) => connectors).map((one) => [one.slug, one]));

/** Returns the description of a known service; for others, only the short name. */
export const connectorOf = (slug: string): KnownConnector =>
  known.get(slug) ?? { slug, name: slug, icon: Plug, text: "" };

type ConnectorIcon = ComponentType<{ readonly className?: string }>;

/**
 * Returns a component that draws a logo, as a decoration beside the name.
 *
 * @param svg a file of `_logos`, which is from Simple Icons (CC0): one path in a square of 24
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
