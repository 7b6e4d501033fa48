// The viewers of a report: each takes the place of the pictures of its figure, which stay for paper.

function openViewer(container) {
  const figure = container.closest("figure");
  const title = element("h3", {textContent: figure.querySelector(".picture title").textContent});
  const data = JSON.parse(container.nextElementSibling.textContent);
  container.hidden = false;
  container.before(title);
  figure.classList.add("viewed");
  for (const id of data.replaces) {
    document.getElementById(id)?.classList.add("in-viewer");
    document.querySelector(`nav a[href="#${id}"]`)?.setAttribute("href", `#${figure.id}`);
  }
  container.addEventListener("save", ({detail}) => saveText(`${figure.id}.${detail.figure}.svg`, "image/svg+xml", detail.svg));
  return new Viewer(container, makeTrack(data.sequence, data.logp, data.start),
      {name: data.name, marks: data.marks, place: () => data.name, theme: () => THEMES.light});
}

for (const container of document.querySelectorAll(".viewer")) openViewer(container);
