import FuzzBodies
import FuzzDriver

fuzz { FuzzBodies.sealed($0) }
