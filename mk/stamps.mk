# Rules that need all that stands elsewhere; read last.

# $(BUILD)/NAME, for each NAME of `linked`, is linked by the command NAME.link. What it is made of are the objects and archives in
# that command.
$(foreach p,$(linked),$(eval $(BUILD)/$p: $(filter $(BUILD)/%.o $(BUILD)/%.a,$($p.link)) $(BUILD)/$p.link.stamp))
$(linked:%=$(BUILD)/%): $(BUILD)/%:
	$($*.link) -o $@

# For each NAME of `stamps`, $(BUILD)/NAME.stamp holds the text of the variable NAME, a command or a list of files, as it was when
# make last used it. What depends on the stamp is made anew when that text changes: with other CXXFLAGS, with a flag that was edited
# in these files, without a source that is gone. The times of these files would say too much, as a new comment would compile
# everything, and too little, as they know nothing of the command line. So a stamp is written only when its text has changed (it
# then depends on FORCE, which is always newer), and neither `make -n` nor `make -q` writes it. A command that has a stamp
# stands in its variable as a whole, except for what names the one file that it makes. strip: make 4.3 sometimes keeps the newline at
# the end of a file that it reads.
stamps += $(linked:%=%.link)
define stamp
ifneq ($$(strip $$(file <$(BUILD)/$1.stamp)),$$(strip $$($1)))
$(BUILD)/$1.stamp: FORCE
endif
endef
$(foreach s,$(stamps),$(eval $(call stamp,$s)))
$(stamps:%=$(BUILD)/%.stamp): $(BUILD)/%.stamp:
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$($*))' > $@
