// Moves over the grid that was lived: between its points every figure is interpolated along all sliders (multilinear).
"use strict";
(function () {
  const grid = JSON.parse(document.getElementById("grid").textContent);
  const STEPS = 20, TIE_PERCENT = 0.01, DASH = "–", MINUS = "−", SPACE = "\u00a0";
  const COST = 0, LOW = 1, HIGH = 2, CHANGE = 3, CHANGE_LOW = 4, CHANGE_HIGH = 5, COMPARABLE = 6;
  const knobs = grid.sliders.map((_, at) => document.getElementById("slider-" + at));

  // The points around a place, with their weights; a place on a point has that one alone.
  function corners(places) {
    let found = [{ at: 0, weight: 1 }];
    places.forEach((place, axis) => {
      const size = grid.sliders[axis].values.length;
      const low = Math.min(Math.floor(place / STEPS), size - 2), part = place / STEPS - low;
      found = found.flatMap((corner) => [
        { at: corner.at * size + low, weight: corner.weight * (1 - part) },
        { at: corner.at * size + low + 1, weight: corner.weight * part },
      ]).filter((corner) => corner.weight > 0);
    });
    return found;
  }

  function rowsAt(around) {
    return grid.policies.map((policy, number) => {
      const rows = around.map((corner) => grid.points[corner.at][number]);
      const mean = (column) => rows.some((row) => row[column] === null)
        ? NaN : rows.reduce((sum, row, at) => sum + around[at].weight * row[column], 0);
      const numbers = [COST, LOW, HIGH, CHANGE, CHANGE_LOW, CHANGE_HIGH].map(mean);
      return { policy, numbers, comparable: rows.every((row) => row[COMPARABLE] === 1) };
    });
  }

  // How numbers are said: as in the tables above.
  const decimals = (percents) => (Math.abs(percents) < 10 ? 1 : 0);
  function scaled(number) {
    if (number === 0) return "0";
    const rounded = Number(Math.abs(number).toExponential(2));
    const [size, letter] = [[1e12, "T"], [1e9, "B"], [1e6, "M"], [1e3, "k"], [1, ""]]
      .find((scale) => rounded >= scale[0]) || [1, ""];
    const value = rounded / size;
    return value.toFixed(Math.max(2 - Math.floor(Math.log10(value)), 0)) + letter;
  }
  function money(usd) {
    if (!Number.isFinite(usd)) return DASH;
    const amount = usd * grid.currency.per_usd;
    return (amount < 0 ? MINUS : "") + grid.currency.symbol + scaled(amount);
  }
  function signed(percents, digits) {
    if (!Number.isFinite(percents)) return DASH;
    const text = Math.abs(percents).toFixed(digits);
    return Number(text) === 0 ? text : (percents < 0 ? MINUS : "+") + text;
  }
  function three(value) {
    const size = Math.abs(value);
    return size >= 1000 && size < 1e15 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
  }
  function said(kind, value) {
    const text = kind === "share" ? three(100 * value) + SPACE + "%" : kind === "times" ? three(value) + SPACE + "×" : three(value);
    return text.replace("-", MINUS);
  }
  function interval(numbers) {
    const [change, low, high] = numbers.slice(CHANGE), digits = decimals(change);
    if (!Number.isFinite(low)) return "";
    if (low < 0 && 0 < high) return ` [${signed(low, digits)}, ${signed(high, digits)}]`;
    const [near, far] = [Math.abs(low), Math.abs(high)].sort((one, other) => one - other);
    return ` [${near.toFixed(digits)}, ${far.toFixed(digits)}]`;
  }

  // The same sentences as at the top of the page.
  function verdict(rows) {
    const [base, ...others] = rows;
    if (!base.comparable) return "No policy can be called cheaper here.";
    const rivals = others.filter((row) => row.comparable);
    if (!rivals.length) {
      const alone = others.length ? "none gives equal quality and service" : "it is the only policy";
      return `Nothing to compare ${base.policy} with: ${alone}.`;
    }
    const rival = cheapest(rivals), [change, low, high] = rival.numbers.slice(CHANGE);
    const size = Math.abs(change).toFixed(decimals(change)) + " % " + (change < 0 ? "less" : "more");
    const bounds = interval(rival.numbers);
    if ([change, low, high].filter(Number.isFinite).every((percents) => Math.abs(percents) < TIE_PERCENT)) {
      return `${rival.policy} and ${base.policy} cost the same: there is no difference worth naming.`;
    }
    if (low <= 0 && 0 <= high) {
      return `${rival.policy} and ${base.policy} cannot be told apart: ${rival.policy} costs ${size}${bounds}.`;
    }
    if (change >= 0) return `Nothing costs less than ${base.policy}: the nearest, ${rival.policy}, costs ${size}${bounds}.`;
    const others_left = rivals.filter((row) => row !== rival);
    const next = others_left.length ? cheapest(others_left) : null;
    return `${rival.policy} costs ${size} than ${base.policy}${bounds}; service equal.` +
      (next ? ` Next is ${next.policy}, at ${money(next.numbers[COST])}.` : "");
  }
  const cheapest = (rows) => rows.reduce((best, row) => (row.numbers[COST] < best.numbers[COST] ? row : best));

  function cell(row, text, className) {
    const made = row.insertCell();
    made.textContent = text;
    if (className) made.className = className;
  }

  function fill(rows, best) {
    const body = document.getElementById("slider-rows");
    body.replaceChildren();
    rows.forEach((row, number) => {
      const line = body.insertRow(), name = document.createElement("th"), n = row.numbers;
      name.scope = "row";
      name.textContent = row.policy;
      line.append(name);
      cell(line, money(n[COST]));
      cell(line, Number.isFinite(n[LOW]) ? `${money(n[LOW])} to ${money(n[HIGH])}` : DASH, "range");
      if (number === 0) cell(line, "baseline");
      else if (!row.comparable) cell(line, "not comparable");
      else cell(line, signed(n[CHANGE], decimals(n[CHANGE])) + SPACE + "%");
      const bounds = number > 0 && row.comparable && Number.isFinite(n[CHANGE_LOW]);
      const digits = decimals(n[CHANGE]);
      cell(line, bounds ? `${signed(n[CHANGE_LOW], digits)} to ${signed(n[CHANGE_HIGH], digits)}` : "", "range");
      cell(line, row === best ? "cheapest" : "", "text");
      if (row === best) line.className = "best";
    });
  }

  function show() {
    const places = knobs.map((knob) => Number(knob.value));
    places.forEach((place, axis) => {
      const { values, kind } = grid.sliders[axis];
      const low = Math.min(Math.floor(place / STEPS), values.length - 2), part = place / STEPS - low;
      const text = said(kind, part === 0 ? values[low] : part === 1 ? values[low + 1]
        : values[low] * (1 - part) + values[low + 1] * part);
      document.getElementById("value-" + axis).textContent = text;
      knobs[axis].setAttribute("aria-valuetext", text);
    });
    const around = corners(places), lived = around.length === 1;
    const refused = around.find((corner) => grid.points[corner.at] === null);
    const now = document.getElementById("now");
    now.className = lived ? "now lived" : "now";
    document.getElementById("where").textContent = lived
      ? "A grid point: these figures were simulated."
      : "Between grid points: these figures are interpolated, not simulated.";
    const rows = refused ? [] : rowsAt(around);
    const best = rows.length && rows[0].comparable ? cheapest(rows.filter((row) => row.comparable)) : null;
    document.getElementById("said").textContent = refused
      ? `Nothing can be said: ${lived ? "this point" : "a grid point next to it"} cannot be lived: ${grid.refused[refused.at]}.`
      : verdict(rows);
    fill(rows, best);
  }

  knobs.forEach((knob) => knob.addEventListener("input", show));
  document.getElementById("back").addEventListener("click", () => {
    knobs.forEach((knob, axis) => { knob.value = STEPS * grid.sliders[axis].start; });
    show();
  });
  document.getElementById("sliders").hidden = false;
  show();
})();
