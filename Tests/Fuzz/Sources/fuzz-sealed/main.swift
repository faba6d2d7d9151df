import FuzzedInputs
import FuzzDriver

fuzz { FuzzBodies.sealed($0) }
