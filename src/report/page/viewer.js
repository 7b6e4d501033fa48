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
  container.addEventListener("save", ({detail}) => savePicture(`${figure.id}.${detail.figure}`, detail.format, detail.svg));
  return new Viewer(container, makeTrack(data.sequence, data.logp, data.start),
      {name: data.name, marks: data.marks, place: () => data.name, formats: FORMATS});
}

for (const container of document.querySelectorAll(".viewer")) openViewer(container);
