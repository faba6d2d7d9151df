import FuzzDriver
import FuzzedInputs

fuzz { FuzzBodies.segment($0) }
