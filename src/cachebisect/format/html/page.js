// Draws the charts of the page from the data next to them, and makes its buttons work. Without it
// the page is complete but for the pictures: the tables hold the same figures.
(() => {
  'use strict';

  const root = document.documentElement;
  root.classList.add('scripted');

  const digits = new Intl.NumberFormat('en-US', {maximumSignificantDigits: 4});

  function colours() {
    const style = getComputedStyle(root);
    const value = (name) => style.getPropertyValue('--' + name).trim();
    return Object.fromEntries(
        ['page', 'ink', 'soft', 'line', 'keep', 'lose', 'more'].map((name) => [name, value(name)]));
  }

  function cut(label, characters) {
    const all = Array.from(label);
    return all.length <= characters ? label : all.slice(0, characters - 1).join('') + '\u2026';
  }

  // Intervals as whiskers, and figures next to the bars.
  const annotations = {
    id: 'annotations',
    afterDatasetsDraw(chart) {
      const {ctx, scales, width, chartArea} = chart;
      const c = colours();
      const narrow = width < 560;
      ctx.save();
      chart.data.datasets.forEach((dataset, d) => {
        (dataset.items || []).forEach((item, i) => {
          const element = chart.getDatasetMeta(d).data[i];
          let end = scales.x.getPixelForValue(Math.max(item.value ?? 0, item.above ?? 0));
          if (item.low !== null && item.high !== null) {
            whisker(ctx, scales.x, element.y, item, c.ink, chartArea.right);
            end = Math.max(end, Math.min(scales.x.getPixelForValue(item.high), chartArea.right));
          }
          ctx.fillStyle = c.ink;
          ctx.font = Chart.defaults.font.size + 'px ' + Chart.defaults.font.family;
          ctx.textBaseline = 'middle';
          const label = (narrow && item.short) || item.text;
          const left = Math.min(end + 6, width - ctx.measureText(label).width - 2);
          ctx.fillText(label, left, element.y);
        });
      });
      ctx.restore();
    },
  };

  // Up to the edge of the chart, where an interval that is wider has no end.
  function whisker(ctx, scale, y, {low, high}, colour, edge) {
    const from = Math.min(scale.getPixelForValue(low), edge);
    const to = Math.min(scale.getPixelForValue(high), edge);
    ctx.strokeStyle = colour;
    ctx.lineWidth = 1.5;
    ctx.beginPath();
    ctx.moveTo(from, y);
    ctx.lineTo(to, y);
    for (const x of [from, to].filter((end) => end < edge)) {
      ctx.moveTo(x, y - 4);
      ctx.lineTo(x, y + 4);
    }
    ctx.stroke();
  }

  // Room for intervals, as long as the bars stay readable.
  function roomFor(items, most = 1.6) {
    const largest = Math.max(...items.map((item) => Math.max(item.value ?? 0, item.above ?? 0)));
    const highest = Math.max(largest, ...items.map((item) => item.high ?? 0));
    return Math.min(highest, most * largest);
  }

  function axis(c, title) {
    return {
      title: {display: Boolean(title), text: title, color: c.soft},
      ticks: {color: c.soft},
      grid: {color: c.line, borderColor: c.line},
    };
  }

  function options(c, {x, y, items, most, tooltip, legend = true, right = 0, narrow}) {
    const names = {
      color: c.ink,
      autoSkip: false,
      callback(value) { return cut(this.getLabelForValue(value), narrow ? 16 : 44); },
    };
    return {
      indexAxis: 'y',
      animation: false,
      maintainAspectRatio: false,
      layout: {padding: {right}},
      interaction: {mode: 'index', axis: 'y', intersect: false},
      scales: {
        x: {beginAtZero: true, suggestedMax: roomFor(items, most), ...axis(c, x)},
        y: {...axis(c, y), ticks: names, grid: {display: false}},
      },
      plugins: {
        legend: {display: legend, align: 'start', labels: {color: c.ink, boxWidth: 14}},
        tooltip: {callbacks: {label: tooltip}},
      },
    };
  }

  function waterfall(data, c, narrow) {
    const lost = data.map((row) => (row.above > row.value ? [row.value, row.above] : null));
    return {
      type: 'bar',
      data: {
        labels: data.map((row) => row.label),
        datasets: [
          {label: 'samples/s', data: data.map((row) => row.value), items: data, backgroundColor: c.keep, grouped: false},
          {label: 'lost here', data: lost, backgroundColor: c.lose, grouped: false},
        ],
      },
      options: options(c, {
        x: 'samples/s',
        items: data,
        narrow,
        right: narrow ? 50 : 190,
        tooltip: ({dataIndex, datasetIndex}) => data[dataIndex][datasetIndex === 0 ? 'text' : 'lost'],
      }),
      plugins: [annotations],
    };
  }

  function shares(data, c, narrow) {
    const parts = {'starvation': c.lose, 'contention': c.more, 'whole loss': c.soft};
    const percent = data.map((row) => ({
      ...row,
      value: 100 * row.value,
      low: row.low === null ? null : 100 * row.low,
      high: row.high === null ? null : 100 * row.high,
    }));
    return {
      type: 'bar',
      data: {
        labels: data.map((row) => row.label),
        datasets: [{
          data: percent.map((row) => row.value),
          items: percent,
          backgroundColor: data.map((row) => parts[row.label]),
        }],
      },
      options: options(c, {
        x: '% of the ceiling',
        items: percent,
        most: Infinity,
        narrow,
        legend: false,
        right: narrow ? 110 : 130,
        tooltip: ({dataIndex}) => data[dataIndex].text,
      }),
      plugins: [annotations],
    };
  }

  function unit(values) {
    const largest = Math.max(...values.filter((value) => value !== null));
    if (largest < 1e-6) return {factor: 1e9, name: 'ns'};
    if (largest < 1e-3) return {factor: 1e6, name: 'us'};
    return largest < 1 ? {factor: 1e3, name: 'ms'} : {factor: 1, name: 's'};
  }

  function busy(data, c, narrow) {
    const {factor, name} = unit(data.flatMap((row) => [row.live.value, row.replayed.value]));
    const scaled = (value) => (value === null ? null : factor * value);
    const part = (which, label, colour) => {
      const items = data.map((row) => ({
        ...row[which],
        value: scaled(row[which].value),
        low: scaled(row[which].low),
        high: scaled(row[which].high),
      }));
      return {
        label,
        items: items.map((item) => ({...item, text: item.value === null ? '' : item.text})),
        data: items.map((item) => item.value),
        backgroundColor: colour,
      };
    };
    const datasets = [part('live', 'live', c.lose), part('replayed', 'replayed', c.keep)];
    return {
      type: 'bar',
      data: {labels: data.map((row) => row.live.label), datasets},
      options: options(c, {
        x: name + ' per sample',
        items: datasets.flatMap((dataset) => dataset.items),
        narrow,
        right: 60,
        tooltip: ({dataset, dataIndex}) => dataset.label + ': ' + dataset.items[dataIndex].text,
      }),
      plugins: [annotations],
    };
  }

  // Shape and colour both tell the arms apart.
  function marker(series, index, c) {
    if (series.label === 'live') return {colour: c.lose, shape: 'circle', glyph: '\u25cf'};
    if (series.label === 'step alone') return {colour: c.keep, shape: 'triangle', glyph: '\u25b2'};
    const others = ['#8f7ee7', '#00997a', '#b8860b', '#cc79a7', '#5b8def', '#7f8c8d'];
    const shapes = ['rect', 'rectRot', 'star', 'crossRot', 'cross'];
    const glyphs = ['\u25a0', '\u25c6', '\u2731', '\u2715', '\u271a'];
    return {
      colour: others[index % others.length],
      shape: shapes[index % shapes.length],
      glyph: glyphs[index % glyphs.length],
    };
  }

  function timeline(data, c, narrow, figure) {
    const hidden = choices(figure, data, c);
    const points = (series) => series.x.map((x, i) => ({x, y: series.y[i], seconds: series.seconds[i]}));
    const datasets = data.map((series, index) => {
      const {colour, shape} = marker(series, index, c);
      return {
        label: series.label,
        data: points(series),
        hidden: hidden.has(series.label),
        pointStyle: shape,
        radius: narrow ? 3.5 : 4.5,
        borderWidth: 1.5,
        borderColor: colour,
        backgroundColor: series.counts.map((counts) => (counts ? colour : 'transparent')),
      };
    });
    return {
      type: 'scatter',
      data: {datasets},
      options: {
        animation: false,
        maintainAspectRatio: false,
        interaction: {mode: 'nearest', intersect: true},
        scales: {x: axis(c, 'seconds since the first block'), y: {beginAtZero: true, grace: '5%', ...axis(c, 'samples/s')}},
        plugins: {
          // On paper, in place of the checkboxes.
          legend: {display: 'print' in root.dataset, align: 'start', labels: {color: c.ink, usePointStyle: true}},
          tooltip: {
            callbacks: {
              label: ({dataset, raw}) => `${dataset.label}: ${digits.format(raw.y)} samples/s in ` +
                  `${digits.format(raw.seconds)} s, from ${digits.format(raw.x)} s on`,
            },
          },
        },
      },
    };
  }

  // The legend of the timeline: a checkbox per arm, so that the keyboard reaches it. Returns the
  // arms that are switched off.
  const switchedOff = new Set();
  function choices(figure, data, c) {
    let set = figure.nextElementSibling;
    if (!set || !set.classList.contains('choices')) {
      set = document.createElement('fieldset');
      set.className = 'choices';
      const legend = document.createElement('legend');
      legend.className = 'unseen';
      legend.textContent = 'Arms shown in the chart';
      set.append(legend);
      figure.after(set);
    }
    set.querySelectorAll('label').forEach((label) => label.remove());
    data.forEach((series, index) => {
      const label = document.createElement('label');
      const box = document.createElement('input');
      const glyph = document.createElement('span');
      const drawn = marker(series, index, c);
      box.type = 'checkbox';
      box.checked = !switchedOff.has(series.label);
      box.addEventListener('change', () => {
        if (box.checked) switchedOff.delete(series.label);
        else switchedOff.add(series.label);
        const chart = Chart.getChart(figure.querySelector('canvas'));
        chart.setDatasetVisibility(index, box.checked);
        chart.update();
      });
      glyph.className = 'glyph';
      glyph.setAttribute('aria-hidden', 'true');
      glyph.style.setProperty('--glyph', drawn.colour);
      glyph.textContent = drawn.glyph;
      label.append(box, glyph, series.label);
      set.append(label);
    });
    return switchedOff;
  }

  // Intervals of the points of a line.
  const intervals = {
    id: 'intervals',
    afterDatasetsDraw(chart) {
      const {ctx, scales: {y}} = chart;
      ctx.save();
      ctx.lineWidth = 1.5;
      chart.data.datasets.forEach((dataset, d) => {
        ctx.strokeStyle = dataset.borderColor;
        ctx.beginPath();
        dataset.items.forEach(({low, high}, i) => {
          if (low === null || high === null) return;
          const {x} = chart.getDatasetMeta(d).data[i];
          const ends = [low, high].map((end) => y.getPixelForValue(end));
          ctx.moveTo(x, ends[0]);
          ctx.lineTo(x, ends[1]);
          for (const end of ends) {
            ctx.moveTo(x - 3, end);
            ctx.lineTo(x + 3, end);
          }
        });
        ctx.stroke();
      });
      ctx.restore();
    },
  };

  // What the verdict was from which run on: a line across the chart, and words above it as far as
  // there is room until the next one.
  const changes = (data) => ({
    id: 'changes',
    beforeDatasetsDraw(chart) {
      const {ctx, scales: {x}, chartArea: {top, bottom, right}} = chart;
      const c = colours();
      const marks = data.map(({change}, i) => ({words: change, left: x.getPixelForValue(i)}))
          .filter(({words}) => words !== null);
      ctx.save();
      ctx.font = Chart.defaults.font.size + 'px ' + Chart.defaults.font.family;
      ctx.textBaseline = 'bottom';
      ctx.strokeStyle = ctx.fillStyle = c.soft;
      ctx.setLineDash([3, 3]);
      marks.forEach(({words, left}, i) => {
        const room = (marks[i + 1]?.left ?? right + 40) - left;
        const fitting = fitted(ctx, words, room - 8);
        ctx.fillText(fitting, Math.min(left, chart.width - ctx.measureText(fitting).width), top - 4);
        ctx.beginPath();
        ctx.moveTo(left, top);
        ctx.lineTo(left, bottom);
        ctx.stroke();
      });
      ctx.restore();
    },
  });

  // The words, or as much of them as is worth showing.
  function fitted(ctx, words, width) {
    let shown = words;
    for (let n = Array.from(words).length; ctx.measureText(shown).width > width; --n) {
      if (n < 5) return '';
      shown = cut(words, n);
    }
    return shown;
  }

  function trend(data, c, narrow) {
    const part = (which, label, colour, shape) => ({
      label,
      items: data.map((row) => row[which]),
      data: data.map((row) => row[which].value),
      borderColor: colour,
      backgroundColor: colour,
      borderWidth: 1.5,
      pointStyle: shape,
      pointRadius: narrow ? 3 : 4,
    });
    return {
      type: 'line',
      data: {
        labels: data.map((row) => row.label),
        datasets: [part('live', 'live', c.lose, 'circle'), part('ceiling', 'ceiling', c.keep, 'triangle')],
      },
      options: {
        animation: false,
        maintainAspectRatio: false,
        layout: {padding: {top: 18, right: 12}},
        interaction: {mode: 'index', intersect: false},
        scales: {
          x: {...axis(c, 'run (UTC)'), offset: true, ticks: {color: c.soft, maxRotation: 0, autoSkipPadding: 16}},
          y: {beginAtZero: true, grace: '5%', ...axis(c, 'samples/s')},
        },
        plugins: {
          legend: {position: 'bottom', align: 'start', labels: {color: c.ink, usePointStyle: true, boxHeight: 6}},
          tooltip: {
            callbacks: {
              label: ({dataset, dataIndex}) => dataset.label + ': ' + dataset.items[dataIndex].text,
              footer: ([{dataIndex}]) => data[dataIndex].verdict,
            },
          },
        },
      },
      plugins: [changes(data), intervals],
    };
  }

  // Pixels per row of a chart on paper, where the style sheet has them as --row.
  const paperRows = {busy: 10.4, waterfall: 17.6};

  const kinds = {waterfall, shares, busy, timeline, trend};
  const figures = Array.from(document.querySelectorAll('figure[data-chart]'));

  function draw() {
    const c = colours();
    const narrow = root.clientWidth < 640;
    for (const figure of figures) {
      const canvas = figure.querySelector('canvas');
      const data = JSON.parse(figure.querySelector('script').textContent);
      const old = Chart.getChart(canvas);
      if (old) old.destroy();
      new Chart(canvas, kinds[figure.dataset.chart](data, c, narrow, figure));
    }
  }

  function startCharts() {
    if (typeof Chart === 'undefined') return;
    root.classList.add('drawn');
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    draw();
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
    matchMedia('(max-width: 639px)').addEventListener('change', draw);
    addEventListener('beforeprint', () => {
      root.dataset.print = '';
      Chart.defaults.font.size = 9;
      draw();
      for (const figure of figures) {
        const rows = Number(figure.style.getPropertyValue('--rows'));
        const height = rows * (paperRows[figure.dataset.chart] ?? 13.6) + 54.4;
        Chart.getChart(figure.querySelector('canvas')).resize(700, height);
      }
    });
    addEventListener('afterprint', () => {
      delete root.dataset.print;
      Chart.defaults.font.size = 12;
      draw();
    });
  }

  function say(message) {
    const status = document.getElementById('status');
    status.textContent = '';
    setTimeout(() => { status.textContent = message; }, 50);
  }

  // Works in pages from disk too, for which some browsers have no navigator.clipboard.
  function copySelection(text, button) {
    const area = document.createElement('textarea');
    area.value = text;
    area.className = 'unseen';
    document.body.append(area);
    area.select();
    const copied = document.execCommand('copy');
    area.remove();
    button.focus({preventScroll: true});
    return copied;
  }

  async function copy(text, button) {
    let message = 'Copied';
    try {
      if (!copySelection(text, button)) await navigator.clipboard.writeText(text);
    } catch {
      message = 'Not copied: select the text';
    }
    const label = button.firstChild;
    button.dataset.label ??= label.textContent;
    label.textContent = message;
    say(message);
    setTimeout(() => { label.textContent = button.dataset.label; }, 1500);
  }

  // Numbers stay as they are written, which JSON.parse() would not keep.
  function indented(json) {
    const strings = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^"[\]{},:]+/g;
    let depth = 0;
    const line = () => '\n' + '  '.repeat(depth);
    return json.replace(strings, (token) => {
      if (token === '{' || token === '[') { depth += 1; return token + line(); }
      if (token === '}' || token === ']') { depth -= 1; return line() + token; }
      if (token === ',') return token + line();
      return token === ':' ? ': ' : token;
    });
  }

  function startButtons() {
    for (const button of document.querySelectorAll('button.copy')) {
      button.addEventListener('click', () => copy(button.previousElementSibling.textContent, button));
    }
    const report = document.getElementById('report');
    if (!report) return;
    const copyJson = document.getElementById('copy-json');
    copyJson.addEventListener('click', () => copy(report.textContent, copyJson));
    document.getElementById('save-json').addEventListener('click', () => {
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob([report.textContent], {type: 'application/json'}));
      link.download = 'report.json';
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    });
    const details = document.getElementById('show-json');
    details.addEventListener('toggle', () => {
      const shown = details.querySelector('pre');
      if (details.open && !shown.textContent) shown.textContent = indented(report.textContent);
    });
  }

  startButtons();
  startCharts();
})();
