import FuzzedInputs
import FuzzDriver

fuzz { FuzzBodies.segment($0) }
