import FuzzBodies
import FuzzDriver

fuzz(FuzzBodies.schema)
