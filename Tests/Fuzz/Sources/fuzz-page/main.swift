import FuzzDriver

// Any bytes as a page of a tree, with its checksum put right: what the check accepts can be read and changed without a
// trap or a look outside of it, and is still in order afterwards.
fuzz { PageTrial.run($0) }
