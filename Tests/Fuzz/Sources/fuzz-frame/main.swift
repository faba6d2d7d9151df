import FuzzDriver

// Any bytes as a frame of a run, as if their checksum were right: whatever is read from it ends with an error or stays
// inside of it.
fuzz { FrameTrial.run($0) }
