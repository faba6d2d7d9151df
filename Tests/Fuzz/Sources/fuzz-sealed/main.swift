import FuzzDriver
import FuzzedInputs

fuzz { FuzzBodies.sealed($0) }
