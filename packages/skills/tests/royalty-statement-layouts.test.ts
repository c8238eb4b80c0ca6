import { expect, it } from "vitest";
import { findingRows, netsByKey, runSkillJson } from "./skill-json.ts";

interface LayoutCase {
  readonly layout: string;
  readonly lines: readonly string[];
  readonly currency: string;
  readonly net: string;
  readonly period: string;
  readonly findings?: Readonly<Record<string, number[]>>;
}

const ISRC = "QZABC2600001";
const UPC = "198765432102";
const LAYOUTS: readonly LayoutCase[] = [
  {
    layout: "tunecore",
    lines: [
      "Sales Period,Posted Date,Store Name,Country Of Sale,Artist,Release Type,Release Title,Song Title,Label,UPC,Optional UPC,TC Song ID,Optional ISRC,Sales Type,# Units Sold,Per Unit Price,Net Sales,Net Sales Currency,Exchange Rate,Total Earned,Currency",
      `2026-07-01,2026-09-01,Spotify,US,Harbor Lane,Song,Tidewater,Harbor Lights,Lane,${UPC},,1,${ISRC},Streaming,1000,0.0042,4.2,USD,0.9,3.78,EUR`,
      // 4.2 × 0.9 is 3.78, not 3.87.
      `2026-07-01,2026-09-01,Deezer,US,Harbor Lane,Song,Tidewater,Harbor Lights,Lane,${UPC},,1,${ISRC},Streaming,1000,0.0042,4.2,USD,0.9,3.87,EUR`,
    ],
    currency: "EUR",
    net: "7.65",
    period: "2026-07",
    findings: { product_differs: [3] },
  },
  {
    layout: "believe",
    lines: [
      "Reporting month;Sales Month;Platform;Country / Region;Label Name;Artist Name;Release title;Track title;UPC;ISRC;Release Catalog nb;Streaming Subscription Type;Release type;Sales Type;Quantity;Client Payment Currency;Unit Price;Mechanical Fee;Gross Revenue;Client share rate;Net Revenue",
      `2026/09/01;2026/07/01;Deezer;World;Lane;Harbor Lane;Tidewater;Harbor Lights;${UPC};${ISRC};HL1;;Music Release;Stream;100;EUR;0.01;0.00;1.00;80;0.80`,
    ],
    currency: "EUR",
    net: "0.80",
    period: "2026-07",
  },
  {
    layout: "orchard",
    lines: [
      "Period;Activity Period;DMS;Territory;Orchard UPC;Artist Name;Product Name;Track Name;ISRC;Trans Type;Quantity;Label Share Net Receipts;Preferred Currency",
      `2026M9;2026M7;YouTube;Spain;36000291452;Harbor Lane;Tidewater;Harbor Lights;${ISRC};AS;120;0,258066;EUR`,
    ],
    currency: "EUR",
    net: "0.258066",
    period: "2026-07",
    findings: { upc_leading_zero_lost: [2] },
  },
  {
    layout: "symphonic",
    lines: [
      "Reporting Period,Label,Release Name,UPC Code,Track Title,ISRC Code,Track Artists,Digital Service Provider,Activity Period,Territory,Count,Royalty ($US)",
      `SEP-26,Lane,Tidewater,${UPC},Harbor Lights,${ISRC},Harbor Lane,Spotify,July 2026,US,900,3.41`,
    ],
    currency: "USD",
    net: "3.41",
    period: "2026-07",
  },
  {
    layout: "fuga",
    lines: [
      "Royalty ID,Asset ISRC,Asset Title,Asset Artist,Sale net receipts,Contract deal term,Reported Royalty,Territory,Quantity,Sale Type,Sale Start date,Sale End date,Sale Store Name,Currency,Product UPC",
      `1,${ISRC},Harbor Lights,Harbor Lane,10,85%,8.5,GB,50,Streaming,2026-07-01,2026-07-31,Spotify,GBP,${UPC}`,
      `2,${ISRC},Harbor Lights,Harbor Lane,10,85%,8.4,GB,50,Streaming,2026-07-01,2026-07-31,Spotify,GBP,${UPC}`,
    ],
    currency: "GBP",
    net: "16.90",
    period: "2026-07",
    findings: { product_differs: [3] },
  },
  {
    layout: "cdbaby",
    lines: [
      "Report Date\tSales Date\tQuantity\tPrice\tSubtotal\tIsrc\tBarcode\tCDBabySku\tAlbum Name\tArtist Name\tTrack Name\tPartner Name\tTransaction Type\tDelivery Country",
      `9/15/2026 12:00:00 AM\t7/31/2026 12:00:00 AM\t2\t0.05\t0.10\t${ISRC}\t"${UPC}"\thl\tTidewater\tHarbor Lane\tHarbor Lights\tAmazon\tStream\tIN`,
    ],
    currency: "USD",
    net: "0.10",
    period: "2026-07",
  },
  {
    layout: "bandcamp",
    lines: [
      "date,paid to,item type,item name,artist,currency,item price,quantity,sub total,transaction fee,amount you received,bandcamp transaction id,net amount",
      "7/4/26 5:45pm,a@example.com,track,Harbor Lights,Harbor Lane,GBP,5.00,2,10.00,0.80,9.20,1,7.70",
    ],
    currency: "GBP",
    net: "7.70",
    period: "2026-07",
    findings: { unmatched_row: [2] },
  },
  {
    layout: "mlc",
    lines: [
      "Distribution Date\tUsage Period Start Date\tUsage Period End Date\tDSP Name\tTerritory\tWork Primary Title\tISRC\tRecording Display Artist Name\tWork Payable %\tNumber of Usages\tDistributed Amount",
      `2026-09-15\t2026-07-01\t2026-07-31\tSpotify\tUS\tHarbor Lights\t${ISRC}\tHarbor Lane\t50\t1200\t0.66`,
    ],
    currency: "USD",
    net: "0.66",
    period: "2026-07",
  },
  {
    layout: "prs",
    lines: [
      "Record Number,CAE Number,Work Title,Amount (performance revenue),IP1",
      "1,199,Total Eclipse of the Pier,0.016,Lane",
    ],
    currency: "GBP",
    net: "0.016",
    period: "(none)",
    findings: { unmatched_row: [2] },
  },
  {
    layout: "gema-v1",
    lines: [
      "Abrechnungsnummer;Werknummer;Werktitel;Lizenznehmer;Nutzungsdatum von;Nutzungsdatum bis;Betrag gebucht;Rück-/Nachverrechnung",
      "26-1;123456;Harbor Lights;Deezer;01.07.2026;30.09.2026;1.234,50;",
    ],
    currency: "EUR",
    net: "1234.50",
    period: "2026-07",
  },
];

it.each(LAYOUTS)("recognizes the layout $layout", async (expected) => {
  const report = await runSkillJson("royalty-statement", "analyze_statement.py", {
    stdin: `${expected.lines.join("\n")}\n`,
  });
  expect(report.source.layout).toBe(expected.layout);
  expect(Object.keys(report.currencies)).toEqual([expected.currency]);
  const bucket = report.currencies[expected.currency];
  expect(bucket.net).toBe(expected.net);
  expect(netsByKey(bucket.by_period)).toEqual({ [expected.period]: expected.net });
  expect(findingRows(report.findings)).toEqual(expected.findings ?? {});
});

it("nets GEMA's debits against its credits", async () => {
  const report = await runSkillJson("royalty-statement", "analyze_statement.py", {
    stdin: [
      "statement_number;payout_date;work_version_number;work_version_titel;distribution_category;date_of_use_from;booked_amount;debit_credit_adjustment",
      "1;2026-10-01;123456-001;Harbor Lights;R;2026-07-01;-100.00;RV",
      "1;2026-10-01;123456-001;Harbor Lights;R;2026-07-01;40.00;KA",
      "1;2026-10-01;222222-001;Salt;R;2026-07-01;8.00;",
    ].join("\n"),
  });
  expect(report.currencies.EUR.credit_debit_pairs).toEqual([
    { work: "123456-001", category: "R", credit: "40.00", debit: "-100.00", net: "-60.00" },
  ]);
  expect(report.currencies.EUR.net).toBe("-52.00");
});
