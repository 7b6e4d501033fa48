# make install, uninstall and dist.

# A manual page gets the version when it is installed.
installed_pages = $(foreach page,$(wildcard man/*.[157]),$(DESTDIR)$(mandir)/$(subst .,man,$(suffix $(page)))/$(notdir $(page)))
install: carbon $(plugins) $(CUDA_LIBRARY)
	$(INSTALL) -d $(DESTDIR)$(bindir) $(addprefix $(DESTDIR)$(mandir)/,man1 man5 man7) \
	    $(DESTDIR)$(libexecdir)/carbon $(DESTDIR)$(includedir) $(DESTDIR)$(datadir)/carbon/models/carbon-tiny \
	    $(DESTDIR)$(bashcompdir) $(DESTDIR)$(zshcompdir)
	$(INSTALL) -m 755 carbon $(DESTDIR)$(bindir)/carbon
	$(INSTALL) -m 755 $(plugins) $(CUDA_LIBRARY) $(DESTDIR)$(libexecdir)/carbon
	$(INSTALL) -m 644 plugins/carbon_plugin.h $(DESTDIR)$(includedir)
	$(INSTALL) -m 644 man/*.1 $(DESTDIR)$(mandir)/man1
	$(INSTALL) -m 644 man/*.5 $(DESTDIR)$(mandir)/man5
	$(INSTALL) -m 644 man/*.7 $(DESTDIR)$(mandir)/man7
	sed -i '1s/"carbon"/"carbon-$(VERSION)"/' $(installed_pages)
	$(INSTALL) -m 644 models/carbon-tiny/* $(DESTDIR)$(datadir)/carbon/models/carbon-tiny
	cp -R workflows packaging/ensembl-vep packaging/vcfanno $(DESTDIR)$(datadir)/carbon/
	$(EMULATOR) ./carbon completion bash > $(DESTDIR)$(bashcompdir)/carbon
	$(EMULATOR) ./carbon completion zsh > $(DESTDIR)$(zshcompdir)/_carbon

uninstall:
	rm -f $(DESTDIR)$(bindir)/carbon $(installed_pages) $(DESTDIR)$(includedir)/carbon_plugin.h \
	    $(addprefix $(DESTDIR)$(libdir)/,$(soname) libcarbon.so pkgconfig/carbon.pc) $(DESTDIR)$(includedir)/carbon/carbon.h \
	    $(plugin_names:%=$(DESTDIR)$(libexecdir)/carbon/%.so) $(DESTDIR)$(libexecdir)/carbon/carbon-cuda.so \
	    $(DESTDIR)$(bashcompdir)/carbon $(DESTDIR)$(zshcompdir)/_carbon
	rm -rf $(DESTDIR)$(datadir)/carbon/models/carbon-tiny $(addprefix $(DESTDIR)$(datadir)/carbon/,workflows ensembl-vep vcfanno)
	rmdir $(DESTDIR)$(includedir)/carbon $(DESTDIR)$(libexecdir)/carbon $(DESTDIR)$(datadir)/carbon/models $(DESTDIR)$(datadir)/carbon 2> /dev/null || :

# The same commit gives the same bytes: the times in the archive are that of the commit, and the modes do not depend on
# the user's settings. An unpacked archive that lies in somebody else's repository is not that repository.
DIST = carbon-$(VERSION).tar.gz
dist:
	@test -e .git || { echo "make dist: no git repository here; the archive is made from the files of a commit" >&2; exit 1; }
	@git diff --quiet HEAD -- || echo "make dist: uncommitted changes are not in $(DIST)" >&2
	git -c tar.umask=0022 archive --prefix=carbon-$(VERSION)/ -o $(DIST) HEAD

# packaging/release.sh makes them; PARTS="source deb" makes some of them.
release:
	packaging/release.sh $(PARTS)
.PHONY: install uninstall dist release
