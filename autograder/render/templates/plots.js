// Draws the plots of the index page with Chart.js. Without it, or without scripts, the tables beside them say the same.
(function () {
  "use strict";
  if (typeof Chart === "undefined") return;
  const data = JSON.parse(document.getElementById("plots").textContent);
  const printed = { "--text": "#000", "--line": "#bbb", "--plot": "#2f6fbf", "--plot-bad": "#c2452f" };
  const charts = [];

  function colour(name, printing) {
    if (printing) return printed[name];
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  function paint(chart, printing) {
    const text = colour("--text", printing), line = colour("--line", printing);
    for (const scale of Object.values(chart.options.scales)) {
      scale.ticks.color = text;
      scale.title.color = text;
      scale.grid.color = line;
      scale.grid.borderColor = line;
    }
    chart.data.datasets[0].backgroundColor = colour(chart.bad ? "--plot-bad" : "--plot", printing);
    chart.update("none");
  }

  // A long label would leave no room for its bar: broken into lines of about `width` letters.
  function broken(label, width) {
    const lines = [""];
    for (const word of String(label).split(" ")) {
      const last = lines.length - 1;
      if (lines[last] && (lines[last] + " " + word).length > width) lines.push(word);
      else lines[last] += (lines[last] ? " " : "") + word;
    }
    return lines.slice(0, 3).map(line => line.length > 40 ? line.slice(0, 39) + "…" : line);
  }

  function draw(canvas, plot) {
    const lying = plot.lying, narrow = window.innerWidth < 640;
    canvas.parentElement.hidden = false;
    const count = {
      beginAtZero: true, suggestedMax: 1, ticks: { precision: 0 }, grid: {},
      title: { display: true, text: plot.count_name },
    };
    const name = {
      ticks: { autoSkip: !lying, maxRotation: 0 }, grid: { display: false },
      title: { display: !lying, text: plot.row_name },
    };
    const chart = new Chart(canvas, {
      type: "bar",
      data: {
        labels: plot.labels.map(label => lying ? broken(label, narrow ? 18 : 34) : label),
        datasets: [{ data: plot.counts, maxBarThickness: 26, borderRadius: 3 }],
      },
      options: {
        indexAxis: lying ? "y" : "x", animation: false, responsive: true, maintainAspectRatio: false,
        plugins: { legend: { display: false } },
        scales: lying ? { x: count, y: name } : { x: name, y: count },
      },
    });
    chart.bad = plot.bad;
    charts.push(chart);
    paint(chart, false);
    canvas.closest("section").querySelector("details").open = Boolean(plot.keep_table);
  }

  for (const canvas of document.querySelectorAll("canvas[data-plot]")) draw(canvas, data[canvas.dataset.plot]);
  const all = printing => charts.forEach(chart => { paint(chart, printing); chart.resize(); });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => all(false));
  window.addEventListener("beforeprint", () => {
    document.querySelectorAll("details").forEach(table => { table.open = true; });
    all(true);
  });
  window.addEventListener("afterprint", () => all(false));
})();
