import FuzzDriver
import FuzzedInputs

fuzz { _ = FuzzBodies.token($0) }
