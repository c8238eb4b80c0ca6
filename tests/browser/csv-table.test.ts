import { expect, test } from "vitest";
import { readCsv, sortRows } from "../../app/(console)/_viewer/csv-table.ts";

function rowsOf(csv: string): string[][] {
  const { rowCount, cellsOf } = readCsv(csv);
  return Array.from({ length: rowCount }, (_, row) => cellsOf(row));
}

test.each([
  ["nothing", "", []],
  [
    "a mark of the encoding, and Windows line ends",
    "\ufeffa,b\r\n1,2\r\n",
    [
      ["a", "b"],
      ["1", "2"],
    ],
  ],
  [
    "semicolons",
    "a;b\n1,5;2",
    [
      ["a", "b"],
      ["1,5", "2"],
    ],
  ],
  [
    "quotes around separators, line ends and quotes",
    'a,b\n"x,\n""y""",""""',
    [
      ["a", "b"],
      ['x,\n"y"', '"'],
    ],
  ],
  [
    "quotes that open nothing",
    'size,title\n12" vinyl,x\n7",y',
    [
      ["size", "title"],
      ['12" vinyl', "x"],
      ['7"', "y"],
    ],
  ],
  ["a quote that is never closed", 'a,b\n"x,y\nz', [["a", "b"], ["x,y\nz"]]],
  ["empty lines and cells", "a,b\n\n,\n", [["a", "b"], [""], ["", ""]]],
])("reads CSV with %s", (_, csv, rows) => {
  expect(rowsOf(csv)).toEqual(rows);
});

test("cuts a row that is wider than a table can be", () => {
  expect(rowsOf(",".repeat(1_000_000))[0]).toHaveLength(200);
});

test("sorts many rows", () => {
  const units = Array.from({ length: 50_000 }, (_, row) => (row * 7_919) % 50_000);
  const table = readCsv(`units\n${units.join("\n")}`);
  const order = [...sortRows(table, 0, false)];
  expect(order.map((row) => Number(table.cellsOf(row)[0]))).toEqual([...units.keys()]);
});

test("sorts numbers as numbers, texts as texts, and empty cells last", () => {
  const table = readCsv("n,t\n10,b\n,\n9,A\n-1.5,c\n9,a\n");
  const order = (column: number, isDescending: boolean) => [
    ...sortRows(table, column, isDescending),
  ];
  expect(order(0, false)).toEqual([4, 3, 5, 1, 2]);
  expect(order(0, true)).toEqual([1, 3, 5, 4, 2]);
  expect(order(1, false)).toEqual([3, 5, 1, 4, 2]);
  expect(order(1, true)).toEqual([4, 1, 3, 5, 2]);
});
